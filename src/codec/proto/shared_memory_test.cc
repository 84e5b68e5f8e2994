// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/shared_memory.h"

#include <gtest/gtest.h>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

TEST(SystemRegionTest, Decodes) {
  inference::SystemSharedMemoryRegisterRequest message;
  message.set_name("r");
  message.set_key("/k");
  message.set_offset(4096);
  message.set_byte_size(UINT64_MAX);
  const memory::SharedRegion region = DecodeSystemRegion(message);
  EXPECT_EQ(region.name, "r");
  EXPECT_EQ(region.key, "/k");
  EXPECT_EQ(region.offset, 4096u);
  EXPECT_EQ(region.byte_size, UINT64_MAX);
}

TEST(SystemRegionTest, Encodes) {
  inference::SystemSharedMemoryStatusResponse message;
  EncodeSystemRegions({{"a", "/k", 4096, 64}, {"\xff", "\xfe", 0, 1}}, &message);
  ASSERT_EQ(message.regions_size(), 2);
  const auto& status = message.regions().at("a");
  EXPECT_EQ(status.name(), "a");
  EXPECT_EQ(status.key(), "/k");
  EXPECT_EQ(status.offset(), 4096u);
  EXPECT_EQ(status.byte_size(), 64u);
  EXPECT_EQ(message.regions().at("\uFFFD").key(), "\uFFFD");
}

TEST(CudaRegionTest, Decodes) {
  inference::CudaSharedMemoryRegisterRequest message;
  message.set_name("c");
  message.set_raw_handle("handle");
  message.set_device_id(-1);
  message.set_byte_size(5);
  const api::CudaRegion region = DecodeCudaRegion(message);
  EXPECT_EQ(region.name, "c");
  EXPECT_EQ(region.raw_handle, "handle");
  EXPECT_EQ(region.device_id, -1);
  EXPECT_EQ(region.byte_size, 5u);
}

TEST(CudaRegionTest, Encodes) {
  inference::CudaSharedMemoryStatusResponse message;
  EncodeCudaRegions({{"c", "handle", 1, 64}}, &message);
  EXPECT_EQ(message.regions().at("c").name(), "c");
  EXPECT_EQ(message.regions().at("c").device_id(), 1u);
  EXPECT_EQ(message.regions().at("c").byte_size(), 64u);
}

}  // namespace
}  // namespace nereid::codec::proto
