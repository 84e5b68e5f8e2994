// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/valid_text.h"

#include <gtest/gtest.h>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

TEST(ReplaceInvalidTextTest, ReachesEveryStringField) {
  inference::ModelMetadataResponse metadata;
  metadata.set_name("m\xff");
  metadata.add_versions("1");
  metadata.add_versions("\xc3");
  metadata.add_inputs()->set_name("\xe2\x82");
  ReplaceInvalidText(&metadata);
  EXPECT_EQ(metadata.name(), "m\uFFFD");
  EXPECT_EQ(metadata.versions(0), "1");
  EXPECT_EQ(metadata.versions(1), "\uFFFD");
  EXPECT_EQ(metadata.inputs(0).name(), "\uFFFD\uFFFD");
}

TEST(ReplaceInvalidTextTest, ReachesMapsAndLeavesBytesAlone) {
  inference::TraceSettingResponse trace;
  (*trace.mutable_settings())["file\xff"].add_value("/tmp/\xfe");
  ReplaceInvalidText(&trace);
  ASSERT_EQ(trace.settings_size(), 1);
  EXPECT_EQ(trace.settings().at("file\uFFFD").value(0), "/tmp/\uFFFD");
  inference::ModelInferResponse response;
  response.add_raw_output_contents("\xff");
  ReplaceInvalidText(&response);
  EXPECT_EQ(response.raw_output_contents(0), "\xff");
}

}  // namespace
}  // namespace nereid::codec::proto
