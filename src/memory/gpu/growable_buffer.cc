// SPDX-License-Identifier: Apache-2.0
#include "memory/gpu/growable_buffer.h"

#include <exception>
#include <memory>
#include <string>

#include "base/blocking_workers.h"
#include "base/byte_budget.h"
#include "device/context.h"
#include "device/cuda_driver.h"
#include "device/virtual_memory.h"
#include "memory/gpu/gpu_pools.h"

namespace nereid::memory {
namespace {

using base::Status;
using device::CudaDriver;
using device::ScopedDevice;

uint64_t AddressBytes(int gpu) {
  const auto sizes = GpuPools::Get().settings().address_bytes;
  const auto listed = sizes.find(gpu);
  return listed == sizes.end() ? GpuMemorySettings::kAddressBytes : listed->second;
}

std::string OnGpu(int gpu) { return " on GPU " + std::to_string(gpu); }

}  // namespace

base::Result<GrowableBuffer> GrowableBuffer::Create(int64_t gpu) {
  GrowableBuffer buffer;
  buffer.gpu_ = static_cast<int>(gpu);
  NEREID_RETURN_IF_ERROR(buffer.Reserve());
  return buffer;
}

Status GrowableBuffer::Reserve() {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(gpu_));
  NEREID_ASSIGN_OR_RETURN(
      granularity_,
      device::MemoryUnit(*driver, gpu_, "read the unit of growable memory" + OnGpu(gpu_)));
  reserved_ = (AddressBytes(gpu_) + granularity_ - 1) / granularity_ * granularity_;
  return driver->ToStatus(
      driver->MemAddressReserve(&address_, reserved_, 0, 0, 0),
      "reserve " + std::to_string(reserved_) + " bytes of addresses" + OnGpu(gpu_));
}

Status GrowableBuffer::Grow(size_t size) {
  if (size <= size_) return Status::Ok();
  if (size > reserved_) {
    return Status::Unavailable("growable memory" + OnGpu(gpu_) + " can have " +
                               std::to_string(reserved_) + " bytes, but " + std::to_string(size) +
                               " are needed. --cuda-virtual-address-size=" + std::to_string(gpu_) +
                               ":BYTES allows more");
  }
  NEREID_ASSIGN_OR_RETURN(const ScopedDevice current, ScopedDevice::Enter(gpu_));
  return MapPiece((size - size_ + granularity_ - 1) / granularity_ * granularity_);
}

Status GrowableBuffer::MapPiece(size_t size) {
  NEREID_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Get());
  const std::string what = "allocate " + std::to_string(size) + " bytes" + OnGpu(gpu_);
  const device::CuMemoryProperties properties = device::PhysicalMemoryOf(gpu_);
  Piece piece{0, size};
  pieces_.reserve(pieces_.size() + 1);  // before there is anything to undo
  NEREID_RETURN_IF_ERROR(
      driver->ToStatus(driver->MemCreate(&piece.handle, size, &properties, 0), what));
  const device::CuPointer at = address_ + size_;
  Status mapped = device::MapMemory(*driver, at, size, piece.handle, gpu_, what);
  if (!mapped.ok()) {
    driver->MemRelease(piece.handle);
    return mapped;
  }
  pieces_.push_back(piece);
  size_ += size;
  return Status::Ok();
}

void GrowableBuffer::Free() {
  if (address_ == 0) return;
  if (!base::ThreadMayBlock() && FreeElsewhere()) return;
  const auto driver = CudaDriver::Get();
  const auto current = ScopedDevice::Enter(gpu_);
  if (driver.ok() && current.ok()) {
    device::CuPointer at = address_;
    for (const Piece& piece : pieces_) {
      (*driver)->MemUnmap(at, piece.size);
      (*driver)->MemRelease(piece.handle);
      at += piece.size;
    }
    (*driver)->MemAddressFree(address_, reserved_);
  }
  address_ = 0;
}

bool GrowableBuffer::FreeElsewhere() {
  static auto* const workers = new base::BlockingWorkers("gpu-unmap", 1);
  try {
    auto moved = std::make_unique<GrowableBuffer>(std::move(*this));
    GrowableBuffer* const freed = moved.get();
    if (workers->Run([freed] { delete freed; })) {
      (void)moved.release();
      return true;
    }
    *this = std::move(*moved);
  } catch (const std::exception&) {
    // There is no memory for handing it over: it is freed here.
  }
  return false;
}

void GrowableBuffer::Swap(GrowableBuffer& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(address_, other.address_);
  std::swap(reserved_, other.reserved_);
  std::swap(granularity_, other.granularity_);
  std::swap(size_, other.size_);
  pieces_.swap(other.pieces_);
}

}  // namespace nereid::memory
