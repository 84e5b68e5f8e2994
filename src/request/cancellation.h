// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

namespace nereid::request {

/// Whether the client still wants an answer. Shared by the front end, which sets it, and everybody
/// who may stop early. All functions may be called from any thread.
class Cancellation {
 public:
  void Cancel() { cancelled_.store(true, std::memory_order_release); }
  bool IsCancelled() const { return cancelled_.load(std::memory_order_acquire); }

 private:
  std::atomic<bool> cancelled_{false};
};

}  // namespace nereid::request
