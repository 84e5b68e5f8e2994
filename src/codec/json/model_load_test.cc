// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_load.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(ModelLoadTest, DecodesTheParameters) {
  EXPECT_TRUE(DecodeModelLoadRequest("")->empty());
  const auto parameters = DecodeModelLoadRequest(
      R"({"parameters":{"config":"{\"max_batch_size\":4}","file:1/model.onnx":"AAEC\n/w=="}})");
  ASSERT_TRUE(parameters.ok()) << parameters.status().message();
  ASSERT_EQ(parameters->size(), 2u);
  EXPECT_EQ((*parameters)[0].value, R"({"max_batch_size":4})");
  EXPECT_EQ((*parameters)[1].name, "file:1/model.onnx");
  EXPECT_EQ((*parameters)[1].value, std::string("\0\1\2\xff", 4));
  EXPECT_EQ(DecodeModelLoadRequest(R"({"parameters":{"other":"x"}})").status().message(),
            "unrecognized load parameter 'other'.");
  std::string many = R"({"parameters":{"config":"")";
  for (int i = 0; i < 16'384; ++i) many += R"(,"file:1/x":"")";
  EXPECT_EQ(DecodeModelLoadRequest(many + "}}").status().message(),
            "a request to load a model can have at most 16384 parameters");
  EXPECT_EQ(DecodeModelLoadRequest(R"({"parameters":{"config":1}})").status().code(),
            base::StatusCode::kInvalidArgument);
  EXPECT_TRUE(DecodeModelLoadRequest(R"({"parameters":null})")->empty());
  EXPECT_TRUE(DecodeModelLoadRequest(R"({"parameters":{"config":null}})")->empty());
  EXPECT_FALSE(DecodeModelLoadRequest(R"({"parameters":{"file:1/x":null}})").ok());
}

}  // namespace
}  // namespace nereid::codec::json
