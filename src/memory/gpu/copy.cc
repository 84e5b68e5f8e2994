// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/copy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/context.h"
#include "device/cuda_driver.h"
#include "memory/gpu/device_buffer.h"
#include "memory/gpu/peer_access.h"
#include "memory/gpu/stream_pool.h"

namespace nereid::memory {
namespace {

using base::Status;
using device::CudaDriver;
using device::CuPointer;
using device::ScopedDevice;

/// Smaller copies of ordinary memory are left to the driver: it has such a buffer of its own.
constexpr size_t kMinStaged = size_t{64} << 10;
/// The size of one step through pinned memory: the CPU fills the next one while the GPU copies.
constexpr size_t kStep = size_t{2} << 20;
/// The most pinned memory that a batch holds for each GPU.
constexpr size_t kMaxStaged = size_t{16} << 20;

CuPointer Address(const char* data) { return reinterpret_cast<CuPointer>(data); }

}  // namespace

/// The copies of a batch that one GPU does, in one stream.
class CopyBatch::Lane {
 public:
  Lane(int gpu, const CudaDriver* driver, device::Stream stream)
      : gpu_(gpu), driver_(driver), stream_(std::move(stream)) {}

  int gpu() const { return gpu_; }

  Status Copy(char* to, const char* from, size_t size) {
    NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(gpu_));
    return Enqueue(to, from, size);
  }

  Status Clear(char* to, size_t size) {
    NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(gpu_));
    is_pending_ = true;
    return Keep(driver_->ToStatus(driver_->MemsetAsync(Address(to), 0, size, stream_.handle()),
                                  "clear memory of GPU " + std::to_string(gpu_)));
  }

  /// Copies between the GPU and ordinary host memory, in steps through pinned memory.
  Status CopyStaged(char* to, const char* from, size_t size, bool to_gpu) {
    NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(gpu_));
    for (size_t done = 0; done < size;) {
      const size_t part = std::min(kStep, size - done);
      std::optional<DeviceBuffer> pinned = TakeStep(part);
      // No pinned memory: the driver copies the rest in its own way.
      if (!pinned) return Enqueue(to + done, from + done, size - done);
      char* const middle = pinned->data();
      if (to_gpu) {
        std::memcpy(middle, from + done, part);
        steps_.push_back({std::move(*pinned), nullptr, part});
        NEREID_RETURN_IF_ERROR(Enqueue(to + done, middle, part));
      } else {
        const Status status = Enqueue(middle, from + done, part);
        steps_.push_back({std::move(*pinned), status.ok() ? to + done : nullptr, part});
        NEREID_RETURN_IF_ERROR(status);
      }
      staged_ += part;
      done += part;
    }
    return Status::Ok();
  }

  Status Wait() {
    if (!is_pending_) return error_;
    is_pending_ = false;
    if (Status status = stream_.Wait(); !status.ok()) {
      is_broken_ = true;
      // The copies may still run, and their memory is given back soon. After this call none runs:
      // it waits for them, or fails because the GPU does nothing any more.
      if (const auto current = ScopedDevice::Enter(gpu_); current.ok()) {
        (void)driver_->ContextSynchronize();
      }
      (void)Keep(std::move(status));
    }
    for (const Step& step : steps_) {
      if (step.to != nullptr && error_.ok()) std::memcpy(step.to, step.pinned.data(), step.size);
    }
    steps_.clear();
    staged_ = 0;
    return error_;
  }

  /// Gives the stream back, unless its work has failed.
  void Close() {
    if (!is_broken_) ReturnStream(std::move(stream_));
  }

 private:
  /// A part of a large copy in pinned memory.
  struct Step {
    DeviceBuffer pinned;
    char* to = nullptr;  // where the bytes go after the GPU's copy; null: nowhere
    size_t size = 0;
  };

  /// Returns pinned memory of this size; nothing if there is none.
  std::optional<DeviceBuffer> TakeStep(size_t size) {
    if (staged_ + size > kMaxStaged) (void)Wait();
    auto pinned = DeviceBuffer::Pinned(size);
    if (!pinned.ok() && staged_ > 0) {
      (void)Wait();
      pinned = DeviceBuffer::Pinned(size);
    }
    if (!pinned.ok()) return std::nullopt;
    return std::move(pinned).value();
  }

  Status Enqueue(char* to, const char* from, size_t size) {
    is_pending_ = true;
    return Keep(driver_->ToStatus(
        driver_->MemcpyAsync(Address(to), Address(from), size, stream_.handle()),
        "copy " + std::to_string(size) + " bytes on GPU " + std::to_string(gpu_)));
  }

  /// Remembers the first error for Wait().
  Status Keep(Status status) {
    if (!status.ok() && error_.ok()) error_ = status;
    return status;
  }

  const int gpu_;
  const CudaDriver* const driver_;
  device::Stream stream_;
  std::vector<Step> steps_;
  size_t staged_ = 0;
  Status error_;
  bool is_pending_ = false;  // work was enqueued since the last Wait()
  bool is_broken_ = false;
};

struct CopyBatch::Lanes {
  std::vector<std::unique_ptr<Lane>> all;
};

CopyBatch::CopyBatch() = default;

CopyBatch::~CopyBatch() {
  if (lanes_ == nullptr) return;
  (void)Wait();
  for (const auto& lane : lanes_->all) lane->Close();
}

base::Result<CopyBatch::Lane*> CopyBatch::LaneOf(int64_t gpu) {
  if (lanes_ == nullptr) lanes_ = std::make_unique<Lanes>();
  for (const auto& lane : lanes_->all) {
    if (lane->gpu() == gpu) return lane.get();
  }
  const int ordinal = static_cast<int>(gpu);
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  NEREID_ASSIGN_OR_RETURN(device::Stream stream, TakeStream(ordinal));
  lanes_->all.push_back(std::make_unique<Lane>(ordinal, driver, std::move(stream)));
  return lanes_->all.back().get();
}

Status CopyBatch::Add(const Place& to, const Source& from, size_t size) {
  if (size == 0) return Status::Ok();
  const bool to_gpu = to.type == MemoryType::kGpu, from_gpu = from.type == MemoryType::kGpu;
  if (!to_gpu && !from_gpu) {
    std::memmove(to.data, from.data, size);
    return Status::Ok();
  }
  NEREID_ASSIGN_OR_RETURN(Lane* const lane, LaneOf(to_gpu ? to.id : from.id));
  if (to_gpu && from_gpu) {
    if (to.id != from.id) EnablePeerAccess(static_cast<int>(to.id), static_cast<int>(from.id));
    return lane->Copy(to.data, from.data, size);
  }
  const bool is_pinned = (to_gpu ? from.type : to.type) == MemoryType::kCpuPinned;
  if (is_pinned || size < kMinStaged) return lane->Copy(to.data, from.data, size);
  return lane->CopyStaged(to.data, from.data, size, to_gpu);
}

Status CopyBatch::AddZeros(const Place& to, size_t size) {
  if (size == 0) return Status::Ok();
  if (to.type != MemoryType::kGpu) {
    std::memset(to.data, 0, size);
    return Status::Ok();
  }
  NEREID_ASSIGN_OR_RETURN(Lane* const lane, LaneOf(to.id));
  return lane->Clear(to.data, size);
}

Status CopyBatch::Wait() {
  Status first;
  if (lanes_ == nullptr) return first;
  for (const auto& lane : lanes_->all) {
    Status status = lane->Wait();
    if (first.ok()) first = std::move(status);
  }
  return first;
}

Status CopyBytes(const CopyBatch::Place& to, const CopyBatch::Source& from, size_t size) {
  CopyBatch batch;
  NEREID_RETURN_IF_ERROR(batch.Add(to, from, size));
  return batch.Wait();
}

}  // namespace nereid::memory
