// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "handover/local_sequences.h"

namespace nereid::handover::testing {

/// Sequences without models. Each of them is idle and has one state, a number.
class FakeSequences final : public LocalSequences {
 public:
  struct Sequence {
    int32_t value = 0;
    bool held = false;
    bool busy = false;
  };

  base::Result<Held> Take(const SequenceKey& key) override {
    const auto found = sequences.find(key);
    if (found == sequences.end()) return base::Status::NotFound("not here");
    if (found->second.busy || found->second.held) return base::Status::Unavailable("busy");
    if (!take_error.ok()) return take_error;
    found->second.held = true;
    Held held;
    held.hold = std::make_unique<FakeHold>(*this, key, true);
    held.idle_ns = 7;
    held.states = {{"S",
                    tensor::DataType::kInt32,
                    {1, 1},
                    {reinterpret_cast<const char*>(&found->second.value), 4}}};
    return held;
  }
  base::Result<std::unique_ptr<Hold>> Put(const SequenceMessage& sequence, bool) override {
    if (!put_error.ok()) return put_error;
    if (sequences.contains(sequence.key)) return base::Status::AlreadyExists("here");
    Sequence& put = sequences[sequence.key];
    put.held = true;
    if (sequence.states.at(0).bytes.size() == 4) {
      put.value = *reinterpret_cast<const int32_t*>(sequence.states[0].bytes.data());
    }
    return std::unique_ptr<Hold>(std::make_unique<FakeHold>(*this, sequence.key, false));
  }
  bool Serves(const SequenceKey& key) const override {
    const auto found = sequences.find(key);
    return found != sequences.end() && !found->second.held;
  }

  std::map<SequenceKey, Sequence> sequences;
  base::Status take_error, put_error;

 private:
  class FakeHold final : public Hold {
   public:
    FakeHold(FakeSequences& all, SequenceKey key, bool serves)
        : all_(all), key_(std::move(key)), serves_(serves) {}
    FakeHold(const FakeHold&) = delete;
    FakeHold& operator=(const FakeHold&) = delete;
    ~FakeHold() override {
      if (!is_settled_) End(serves_);
    }
    bool Settle(bool serves) override {
      is_settled_ = true;
      return End(serves);
    }

   private:
    bool End(bool serves) {
      const auto found = all_.sequences.find(key_);
      if (found == all_.sequences.end()) return false;
      found->second.held = false;
      if (!serves) all_.sequences.erase(found);
      return true;
    }

    FakeSequences& all_;
    const SequenceKey key_;
    const bool serves_;
    bool is_settled_ = false;
  };
};

}  // namespace nereid::handover::testing
