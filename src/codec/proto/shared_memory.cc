// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/shared_memory.h"

#include "base/utf8.h"
#include "grpc_service.pb.h"

namespace nereid::codec::proto {

memory::SharedRegion DecodeSystemRegion(
    const inference::SystemSharedMemoryRegisterRequest& message) {
  return {message.name(), message.key(), message.offset(), message.byte_size()};
}

api::CudaRegion DecodeCudaRegion(const inference::CudaSharedMemoryRegisterRequest& message) {
  return {message.name(), message.raw_handle(), message.device_id(), message.byte_size()};
}

void EncodeSystemRegions(const std::vector<memory::SharedRegion>& regions,
                         inference::SystemSharedMemoryStatusResponse* message) {
  for (const memory::SharedRegion& region : regions) {
    const std::string name = base::ReplaceInvalidUtf8(region.name);
    auto& status = (*message->mutable_regions())[name];
    status.set_name(name);
    status.set_key(base::ReplaceInvalidUtf8(region.key));
    status.set_offset(region.offset);
    status.set_byte_size(region.byte_size);
  }
}

void EncodeCudaRegions(const std::vector<api::CudaRegion>& regions,
                       inference::CudaSharedMemoryStatusResponse* message) {
  for (const api::CudaRegion& region : regions) {
    const std::string name = base::ReplaceInvalidUtf8(region.name);
    auto& status = (*message->mutable_regions())[name];
    status.set_name(name);
    status.set_device_id(static_cast<uint64_t>(region.device_id));
    status.set_byte_size(region.byte_size);
  }
}

}  // namespace nereid::codec::proto
