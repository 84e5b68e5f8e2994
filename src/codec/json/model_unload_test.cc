// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_unload.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(ModelUnloadTest, DecodesTheParameter) {
  EXPECT_FALSE(*DecodeModelUnloadRequest(""));
  EXPECT_TRUE(*DecodeModelUnloadRequest(R"({"parameters":{"unload_dependents":true}})"));
  EXPECT_FALSE(*DecodeModelUnloadRequest(R"({"parameters":{"unload_dependents":null}})"));
  EXPECT_EQ(
      DecodeModelUnloadRequest(R"({"parameters":{"unload_dependents":"true"}})").status().message(),
      "Unable to parse 'unload_dependents': attempt to access JSON non-boolean as boolean");
}

}  // namespace
}  // namespace nereid::codec::json
