// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/stages.h"
#include "frontend/net/inbox.h"
#include "frontend/net/task.h"

namespace nereid::frontend::net {

/// Whether an event loop takes tasks: posts one to it, and sees at the next question whether it has
/// run. May outlive the loop, which then counts as one that moves. Must be owned by a shared_ptr.
class LoopStage final : public base::Stage, public std::enable_shared_from_this<LoopStage> {
 public:
  explicit LoopStage(std::shared_ptr<Inbox> inbox) : inbox_(std::move(inbox)) {}

  std::optional<base::StageSample> Sample(uint64_t now_ns) override {
    if (asked_ns_ != 0 && !answered_.load(std::memory_order_acquire)) {
      return base::StageSample{.blocked_since_ns = asked_ns_, .detail = "it takes no task"};
    }
    asked_ns_ = now_ns;
    answered_.store(false, std::memory_order_relaxed);
    inbox_->Post(question_, shared_from_this());
    return base::StageSample{};
  }

 private:
  void Answer() { answered_.store(true, std::memory_order_release); }

  const std::shared_ptr<Inbox> inbox_;
  uint64_t asked_ns_ = 0;
  std::atomic<bool> answered_{false};
  MemberTask<LoopStage, &LoopStage::Answer, &LoopStage::Answer> question_{*this};
};

}  // namespace nereid::frontend::net
