// SPDX-License-Identifier: Apache-2.0
#include "codec/json/shared_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::codec::json {
namespace {

using base::StatusCode;

struct Refusal {
  const char* json;
  const char* text;
};

constexpr char kByteSize[] =
    "Unable to parse 'byte_size': attempt to access JSON non-unsigned-integer as unsigned-integer";
constexpr char kOffset[] =
    "Unable to parse 'offset': attempt to access JSON non-unsigned-integer as unsigned-integer";

TEST(SystemRegionTest, Decodes) {
  const auto region =
      DecodeSystemRegion("r", R"({"key":"/k","offset":4096,"byte_size":64,"other":[1]})");
  ASSERT_TRUE(region.ok());
  EXPECT_EQ(region->name, "r");
  EXPECT_EQ(region->key, "/k");
  EXPECT_EQ(region->offset, 4096u);
  EXPECT_EQ(region->byte_size, 64u);
  EXPECT_EQ(DecodeSystemRegion("r", R"({"key":"k","byte_size":1})")->offset, 0u);
  EXPECT_EQ(DecodeSystemRegion("r", R"({"key":"k","offset":null,"byte_size":1})")->offset, 0u);
  EXPECT_EQ(DecodeSystemRegion("r", R"({"key":"a","byte_size":1,"key":"b"})")->key, "a")
      << "the first of repeated members counts";
}

TEST(SystemRegionTest, AnObjectThatIsSentNeedsNoKey) {
  EXPECT_EQ(DecodeSystemRegion("r", R"({"byte_size":1})", KeyIs::kOptional)->key, "");
  EXPECT_EQ(DecodeSystemRegion("r", R"({"key":"k","byte_size":1})", KeyIs::kOptional)->key, "k");
  EXPECT_FALSE(DecodeSystemRegion("r", "{}", KeyIs::kOptional).ok());
}

TEST(SystemRegionTest, Refuses) {
  const Refusal refusals[] = {
      {"", "failed to parse the request JSON buffer: The document is empty. at 0"},
      {"[]", "attempt to get members for non-object"},
      {"{}", "Shared memory register request has no 'key' field"},
      {R"({"byte_size":1})", "Shared memory register request has no 'key' field"},
      {R"({"key":"k"})", "Shared memory register request has no 'byte_size' field"},
      {R"({"key":1,"byte_size":1})",
       "Unable to parse 'key': attempt to access JSON non-string as string"},
      {R"({"key":"k","byte_size":"1"})", kByteSize},
      {R"({"key":"k","byte_size":-1})", kByteSize},
      {R"({"key":"k","byte_size":1.5})", kByteSize},
      {R"({"key":"k","byte_size":18446744073709551616})", kByteSize},
      {R"({"key":"k","offset":true,"byte_size":1})", kOffset},
  };
  for (const Refusal& refusal : refusals) {
    const auto region = DecodeSystemRegion("r", refusal.json);
    EXPECT_EQ(region.status().code(), StatusCode::kInvalidArgument) << refusal.json;
    EXPECT_EQ(region.status().message(), refusal.text) << refusal.json;
  }
  EXPECT_FALSE(DecodeSystemRegion("r", R"({"key":"k","byte_size":1)").ok());
  EXPECT_FALSE(DecodeSystemRegion("r", R"({"key":"k","byte_size":1} x)").ok());
}

TEST(SystemRegionTest, Encodes) {
  EXPECT_EQ(EncodeSystemRegions({}), "[]");
  EXPECT_EQ(EncodeSystemRegions({{"a", "/k", 4096, 64}, {"\xff", "\"", 0, UINT64_MAX}}),
            R"([{"name":"a","key":"/k","offset":4096,"byte_size":64},)"
            "{\"name\":\"\uFFFD\",\"key\":\"\\\"\",\"offset\":0,"
            R"("byte_size":18446744073709551615}])");
}

TEST(CudaRegionTest, Decodes) {
  const std::string handle(64, 'h');
  std::string base64;  // of 64 times "h"
  for (int i = 0; i < 21; ++i) base64 += "aGho";
  base64 += "aA==";
  const auto region = DecodeCudaRegion(
      "c", R"({"raw_handle":{"b64":")" + base64 + R"("},"device_id":2,"byte_size":64})");
  ASSERT_TRUE(region.ok()) << region.status().message();
  EXPECT_EQ(region->name, "c");
  EXPECT_EQ(region->raw_handle, handle);
  EXPECT_EQ(region->device_id, 2);
  EXPECT_EQ(region->byte_size, 64u);
}

TEST(CudaRegionTest, Refuses) {
  const Refusal refusals[] = {
      {"", "failed to parse the request JSON buffer: The document is empty. at 0"},
      {"{}", "Shared memory register request has no 'raw_handle' field"},
      {R"({"raw_handle":{}})", "Shared memory register request has no 'b64' field"},
      {R"({"raw_handle":"x"})",
       "Unable to parse 'raw_handle': attempt to access JSON non-object as object"},
      {R"({"raw_handle":{"b64":1}})",
       "Unable to parse 'b64': attempt to access JSON non-string as string"},
      {R"({"raw_handle":{"b64":""},"byte_size":1})",
       "Shared memory register request has no 'device_id' field"},
      {R"({"raw_handle":{"b64":""},"device_id":0})",
       "Shared memory register request has no 'byte_size' field"},
      {R"({"raw_handle":{"b64":"aGho"},"device_id":0,"byte_size":1})",
       "'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t"},
  };
  for (const Refusal& refusal : refusals) {
    const auto region = DecodeCudaRegion("c", refusal.json);
    EXPECT_EQ(region.status().code(), StatusCode::kInvalidArgument) << refusal.json;
    EXPECT_EQ(region.status().message(), refusal.text) << refusal.json;
  }
}

TEST(CudaRegionTest, Encodes) {
  EXPECT_EQ(EncodeCudaRegions({{"c", "handle", 1, 64}}),
            R"([{"name":"c","device_id":1,"byte_size":64}])");
}

}  // namespace
}  // namespace nereid::codec::json
