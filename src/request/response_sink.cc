// SPDX-License-Identifier: Apache-2.0
#include "request/response_sink.h"

#include <cstring>
#include <utility>

#include "memory/gpu/copy.h"

namespace nereid::request {

void ResponseSink::RequestReleased(std::unique_ptr<InferenceRequest> request) noexcept {
  request.reset();
}

base::Status ResponseSink::AllocateOutput(Output* output, size_t size) noexcept {
  output->owned = memory::HostBuffer::Allocate(size);
  if (size > 0 && !output->owned) {
    return base::Status::Unavailable("out of memory: output '" + output->name + "' needs " +
                                     std::to_string(size) + " bytes");
  }
  output->data = output->owned.data();
  output->memory_type = memory::MemoryType::kCpu;
  output->memory_type_id = 0;
  return base::Status::Ok();
}

base::Status ResponseSink::LendOutput(Output* output, LentBytes bytes) noexcept {
  if (bytes.memory_type == memory::MemoryType::kGpu) {
    NEREID_RETURN_IF_ERROR(ResponseSink::AllocateOutput(output, bytes.size));
    return memory::CopyBytes({output->data}, {bytes.data, bytes.memory_type, bytes.memory_type_id},
                             bytes.size);
  }
  if (!bytes.may_change) return Refer(output, std::move(bytes));
  NEREID_RETURN_IF_ERROR(ResponseSink::AllocateOutput(output, bytes.size));
  if (bytes.size != 0) std::memcpy(output->data, bytes.data, bytes.size);
  return base::Status::Ok();
}

base::Status ResponseSink::Refer(Output* output, LentBytes bytes) noexcept {
  output->data = bytes.data;
  output->lender = std::move(bytes.owner);
  output->memory_type = memory::MemoryType::kCpu;
  output->memory_type_id = 0;
  return base::Status::Ok();
}

void ResponseSink::ReleaseOutput(Output* output) noexcept {
  output->owned.Reset();
  output->device = {};
  output->lender.reset();
}

base::Status ResponseSink::QueryOutput(std::string_view /*name*/, size_t* /*size*/,
                                       memory::MemoryType* type, int64_t* id) noexcept {
  *type = memory::MemoryType::kCpu;
  *id = 0;
  return base::Status::Ok();
}

}  // namespace nereid::request
