// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/result.h"
#include "device/stream.h"

namespace nereid::device {

/// A point in the work of a stream, for which threads and other streams can wait. Move-only; used
/// by one thread at a time.
class Event {
 public:
  /// Creates an event of a GPU, without timing. Returns the errors of ScopedDevice::Enter and of
  /// the driver.
  static base::Result<Event> Create(int ordinal);
  Event(Event&& other) noexcept
      : ordinal_(other.ordinal_), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(ordinal_, other.ordinal_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Event();

  CuEvent handle() const { return handle_; }

  /// Marks the end of the work that is in `stream`, which belongs to the same GPU.
  base::Status Record(const Stream& stream);
  /// Makes the later work of `stream`, of any GPU, wait for the marked point.
  base::Status Precede(const Stream& stream) const;
  /// Waits for the marked point. Blocks, so it must not be called on an event loop.
  base::Status Wait() const;
  /// Returns whether the marked point has passed; the driver's error if its work failed.
  base::Result<bool> IsDone() const;

 private:
  Event(int ordinal, CuEvent handle) : ordinal_(ordinal), handle_(handle) {}

  int ordinal_;
  CuEvent handle_;
};

}  // namespace nereid::device
