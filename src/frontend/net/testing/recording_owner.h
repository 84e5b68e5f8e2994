// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "frontend/net/byte_stream.h"

namespace nereid::frontend::net::testing {

/// An owner that counts the calls of its stream.
class RecordingOwner : protected ByteStream::Owner {
 protected:
  void OnReadable() noexcept override {
    ++readable_;
    if (on_readable_) on_readable_();
  }
  void OnWritable() noexcept override {
    ++writable_;
    if (on_writable_) on_writable_();
  }
  void OnLost() noexcept override { ++lost_; }

  int readable_ = 0, writable_ = 0, lost_ = 0;
  std::function<void()> on_readable_, on_writable_;
};

}  // namespace nereid::frontend::net::testing
