// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_metadata.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(ModelMetadataTest, Encodes) {
  api::ModelMetadata metadata;
  metadata.name = "m";
  metadata.versions = {"1", "3"};
  metadata.platform = "onnxruntime_onnx";
  metadata.inputs = {{"IN", "FP32", {-1, 4}}};
  metadata.outputs = {{"OUT", "BYTES", {}}};
  EXPECT_EQ(EncodeModelMetadata(metadata),
            R"({"name":"m","versions":["1","3"],"platform":"onnxruntime_onnx",)"
            R"("inputs":[{"name":"IN","datatype":"FP32","shape":[-1,4]}],)"
            R"("outputs":[{"name":"OUT","datatype":"BYTES","shape":[]}]})");
}

}  // namespace
}  // namespace nereid::codec::json
