// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/result.h"
#include "device/cuda_api.h"

namespace nereid::device {

/// A queue of copies and kernels of one GPU, which run in order. Two streams run independently of
/// each other and of the default stream. Move-only; used by one thread at a time.
class Stream {
 public:
  /// Returns the errors of ScopedDevice::Enter and of the driver.
  static base::Result<Stream> Create(int ordinal);
  Stream(Stream&& other) noexcept
      : ordinal_(other.ordinal_), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(ordinal_, other.ordinal_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  /// Work that is still in the stream goes on.
  ~Stream();

  CuStream handle() const { return handle_; }
  int ordinal() const { return ordinal_; }

  /// Waits until the work in the stream is done. Returns the driver's error, also for work that
  /// failed. Blocks, so it must not be called on an event loop.
  base::Status Wait() const;

 private:
  Stream(int ordinal, CuStream handle) : ordinal_(ordinal), handle_(handle) {}

  int ordinal_;
  CuStream handle_;
};

}  // namespace nereid::device
