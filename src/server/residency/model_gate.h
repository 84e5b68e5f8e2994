// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace nereid::server {

/// The entrance of one model. While it is open, requests go to the model without a question; while
/// it is closed, they wait. Thread-safe, without a lock.
///
/// A request is counted before it looks whether the gate is open, and is counted until it was
/// submitted. So after Close(), a gate that nobody has entered stays so, but for Hold().
class ModelGate {
 public:
  /// Keeps the model in memory. Ends with its destruction.
  class Pass {
   public:
    Pass() = default;
    explicit Pass(std::shared_ptr<ModelGate> gate) : gate_(std::move(gate)) {
      gate_->entered_.fetch_add(1, std::memory_order_seq_cst);
    }
    Pass(Pass&&) noexcept = default;
    Pass& operator=(Pass&& other) noexcept {
      gate_.swap(other.gate_);
      return *this;
    }
    ~Pass() {
      if (gate_ != nullptr) gate_->entered_.fetch_sub(1, std::memory_order_seq_cst);
    }

   private:
    std::shared_ptr<ModelGate> gate_;  // null: of no model
  };

  /// Counts a use and returns a pass if the gate is open.
  static std::optional<Pass> Enter(std::shared_ptr<ModelGate> gate, uint64_t now_ns) {
    ModelGate& entered = *gate;
    Pass pass(std::move(gate));
    if (!entered.is_open_.load(std::memory_order_seq_cst)) return std::nullopt;
    entered.last_used_ns_.store(now_ns, std::memory_order_relaxed);
    entered.hits_.fetch_add(1, std::memory_order_relaxed);
    return pass;
  }
  /// Returns a pass of a gate that may be closed. Only for a model that is in memory and is not
  /// being evicted.
  static Pass Hold(std::shared_ptr<ModelGate> gate, uint64_t now_ns) {
    gate->last_used_ns_.store(now_ns, std::memory_order_relaxed);
    return Pass(std::move(gate));
  }

  /// The use of a gate at one moment.
  struct Use {
    uint64_t last_ns = 0;
    bool is_entered = false;
    /// Returns false if no request has come yet.
    bool Exists() const { return is_entered || last_ns != 0; }
  };
  /// Reads the passes first: a request has its pass before it stores its time.
  Use ReadUse() const {
    const bool is_entered = IsEntered();
    return {last_used_ns(), is_entered};
  }

  void Open() { is_open_.store(true, std::memory_order_seq_cst); }
  void Close() { is_open_.store(false, std::memory_order_seq_cst); }
  bool IsEntered() const { return entered_.load(std::memory_order_seq_cst) != 0; }
  uint64_t last_used_ns() const { return last_used_ns_.load(std::memory_order_relaxed); }
  /// Returns how many requests found the gate open.
  uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_open_{false};
  std::atomic<uint32_t> entered_{0};
  std::atomic<uint64_t> last_used_ns_{0};
  std::atomic<uint64_t> hits_{0};
};

}  // namespace nereid::server
