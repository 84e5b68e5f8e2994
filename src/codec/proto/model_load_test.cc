// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/model_load.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

TEST(ModelLoadTest, DecodesTheParameters) {
  inference::RepositoryModelLoadRequest message;
  EXPECT_TRUE(DecodeModelLoadRequest(message)->empty());
  (*message.mutable_parameters())["config"].set_string_param("{}");
  (*message.mutable_parameters())["file:1/x"].set_bytes_param("\1\2");
  auto parameters = DecodeModelLoadRequest(message);
  ASSERT_TRUE(parameters.ok()) << parameters.status().message();
  std::ranges::sort(*parameters, {}, &api::LoadParameter::name);  // a protobuf map has no order
  ASSERT_EQ(parameters->size(), 2U);
  EXPECT_EQ((*parameters)[0].name, "config");
  EXPECT_EQ((*parameters)[0].value, "{}");
  EXPECT_EQ((*parameters)[1].name, "file:1/x");
  EXPECT_EQ((*parameters)[1].value, "\1\2");
}

TEST(ModelLoadTest, RefusesUnknownParametersAndWrongTypes) {
  const auto refusal = [](const std::string& key) {
    inference::RepositoryModelLoadRequest message;
    (*message.mutable_parameters())[key].set_int64_param(1);
    return DecodeModelLoadRequest(message).status().message();
  };
  EXPECT_EQ(refusal("other"), "unrecognized load parameter 'other'.");
  EXPECT_EQ(refusal("config"),
            "invalid value type for load parameter 'config', expected string_param.");
  EXPECT_EQ(refusal("file:1/x"),
            "invalid value type for load parameter 'file:1/x', expected bytes_param.");
}

TEST(ModelLoadTest, RefusesARepositoryNameFirst) {
  inference::RepositoryModelLoadRequest message;
  message.set_repository_name("r");
  (*message.mutable_parameters())["other"].set_int64_param(1);
  EXPECT_EQ(DecodeModelLoadRequest(message).status().code(), base::StatusCode::kUnsupported);
}

}  // namespace
}  // namespace nereid::codec::proto
