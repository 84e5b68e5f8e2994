// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace nereid::memory {

/// A region of GPU memory as its client registers it.
struct CudaRegion {
  std::string name;
  std::string raw_handle;  // the 64 bytes of a cudaIpcMemHandle_t
  int64_t device_id = 0;
  uint64_t byte_size = 0;
};

/// A region of a client's GPU memory that is open in this process. The client may change the bytes
/// at any time. It must not free the memory as long as the server has the region open: neither
/// process would notice. Immutable; thread-safe.
class CudaMapping {
 public:
  /// Opens the memory. Returns INVALID_ARGUMENT, with Triton's text in front, if there is no such
  /// GPU, if the driver does not accept the handle, or if the memory is smaller than the region,
  /// and UNAVAILABLE without a driver. Takes up to a second where it is the process's first use of
  /// the GPU.
  static base::Result<CudaMapping> Open(CudaRegion region);
  CudaMapping(CudaMapping&& other) noexcept
      : region_(std::move(other.region_)), data_(std::exchange(other.data_, nullptr)) {}
  CudaMapping& operator=(CudaMapping&&) = delete;
  ~CudaMapping();

  const CudaRegion& region() const { return region_; }
  /// Returns the address in the memory of the region's GPU.
  char* data() const { return data_; }

 private:
  explicit CudaMapping(CudaRegion region) : region_(std::move(region)) {}
  base::Status OpenHandle();

  CudaRegion region_;
  char* data_ = nullptr;
};

}  // namespace nereid::memory
