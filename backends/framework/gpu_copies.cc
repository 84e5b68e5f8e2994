// SPDX-License-Identifier: Apache-2.0
#include "framework/gpu_copies.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "device/context.h"
#include "device/cuda_driver.h"
#include "nereid/backend/aligned_buffer.h"

namespace nereid::framework {
namespace {

device::CuPointer Address(const char* data) { return reinterpret_cast<device::CuPointer>(data); }

base::Status Copy(const device::Stream& stream, char* to, const char* from, uint64_t size) {
  NEREID_ASSIGN_OR_RETURN(const device::ScopedDevice current,
                          device::ScopedDevice::Enter(stream.ordinal()));
  NEREID_ASSIGN_OR_RETURN(const device::CudaDriver* driver, device::CudaDriver::Get());
  return driver->ToStatus(
      driver->MemcpyAsync(Address(to), Address(from), size, stream.handle()),
      "copy " + std::to_string(size) + " bytes from or to GPU " + std::to_string(stream.ordinal()));
}

base::Result<uint64_t> Allocate(int gpu, uint64_t size) {
  NEREID_ASSIGN_OR_RETURN(const device::ScopedDevice current, device::ScopedDevice::Enter(gpu));
  NEREID_ASSIGN_OR_RETURN(const device::CudaDriver* driver, device::CudaDriver::Get());
  device::CuPointer data = 0;
  NEREID_RETURN_IF_ERROR(driver->ToStatus(
      driver->MemAlloc(&data, size),
      "allocate " + std::to_string(size) + " bytes on GPU " + std::to_string(gpu)));
  return data;
}

}  // namespace

Error ToError(const base::Status& status) {
  // The codes of a status are those of the C API plus 1.
  return status.ok()
             ? Error()
             : Error(static_cast<TRITONSERVER_Error_Code>(static_cast<int>(status.code()) - 1),
                     status.message());
}

Error GpuCopies::StreamOf(int gpu, const device::Stream** stream) {
  auto found = streams_.find(gpu);
  if (found == streams_.end()) {
    auto made = device::Stream::Create(gpu);
    if (!made.ok()) {
      return ToError(made.status());
    }
    found = streams_.emplace(gpu, std::move(made).value()).first;
  }
  *stream = &found->second;
  return {};
}

Error GpuCopies::Add(char* to, int to_gpu, const char* from, int from_gpu, uint64_t size) {
  if (size == 0) {
    return {};
  }
  if (to_gpu < 0 && from_gpu < 0) {
    std::memcpy(to, from, size);
    return {};
  }
  const device::Stream* stream = nullptr;
  NEREID_BACKEND_TRY(StreamOf(from_gpu >= 0 ? from_gpu : to_gpu, &stream));
  pending_ = true;
  return ToError(Copy(*stream, to, from, size));
}

Error GpuCopies::Wait() {
  Error first;
  if (std::exchange(pending_, false)) {
    for (const auto& [gpu, stream] : streams_) {
      Error error = ToError(stream.Wait());
      if (first.ok()) {
        first = std::move(error);
      }
    }
  }
  return first;
}

std::string GpuFailure(int gpu) {
  const auto driver = device::CudaDriver::Get();
  const auto context = device::PrimaryContext(gpu);
  if (!driver.ok() || !context.ok()) {
    return driver.ok() ? context.status().message() : driver.status().message();
  }
  device::CuContext popped = nullptr;
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  device::CuResult result = (*driver)->ContextPush(*context);
  if (result == device::kCudaSuccess) {
    result = (*driver)->MemGetInfo(&free_bytes, &total_bytes);
    (*driver)->ContextPop(&popped);
  }
  return result == device::kCudaSuccess || result == device::kCudaOutOfMemory
             ? ""
             : (*driver)->ToStatus(result, "use it").message();
}

GpuScratch::GpuScratch(GpuScratch&& other) noexcept
    : gpu_(other.gpu_),
      data_(std::exchange(other.data_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Error GpuScratch::Reserve(int gpu, uint64_t size, char** data) {
  if (data_ == 0 || gpu != gpu_ || size > capacity_) {
    const uint64_t wanted = std::max<uint64_t>(size, capacity_ < backend::AlignedBuffer::kKept / 2
                                                         ? std::max<uint64_t>(capacity_ * 2, 256)
                                                         : 0);
    Free();
    const auto made = Allocate(gpu, wanted);
    if (!made.ok()) {
      return ToError(made.status());
    }
    data_ = *made;
    gpu_ = gpu;
    capacity_ = wanted;
  }
  *data = reinterpret_cast<char*>(data_);
  return {};
}

void GpuScratch::Trim() {
  if (capacity_ > backend::AlignedBuffer::kKept) {
    Free();
  }
}

void GpuScratch::Free() {
  if (data_ == 0) {
    return;
  }
  const auto current = device::ScopedDevice::Enter(gpu_);
  const auto driver = device::CudaDriver::Get();
  if (current.ok() && driver.ok()) {
    (*driver)->MemFree(data_);
  }
  data_ = 0;
  capacity_ = 0;
}

}  // namespace nereid::framework
