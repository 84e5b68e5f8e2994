// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace nereid::python {

/// The time that a function of a model takes which runs once: auto_complete_config(), initialize()
/// or finalize(). Says when the log is to tell that the function still runs, and when its limit is
/// over. Used by one thread.
class FunctionTimer {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// What has become due.
  enum class Due { kNothing, kNotice, kLimit };

  /// The first notice comes after this time, and each further one when the time has doubled, but
  /// not later than kMaxBetween after the one before.
  static constexpr std::chrono::seconds kFirstNotice{10};
  static constexpr std::chrono::seconds kMaxBetween{600};

  /// The function `name` begins. `limit` is 0 for none.
  void Begin(const char* name, std::chrono::milliseconds limit, Time now) {
    name_ = name;
    limit_ = limit;
    begin_ = now;
    notice_ = now + kFirstNotice;
    running_ = true;
  }

  /// The function has ended, or its process is killed.
  void End() { running_ = false; }

  /// Returns when Take has something to say; nothing if no function runs.
  std::optional<Time> Next() const {
    if (!running_) {
      return std::nullopt;
    }
    return limit_.count() == 0 ? notice_ : std::min(notice_, begin_ + limit_);
  }

  /// Returns what is due. After kLimit the timer has ended.
  Due Take(Time now) {
    if (!running_ || now < *Next()) {
      return Due::kNothing;
    }
    if (limit_.count() != 0 && now >= begin_ + limit_) {
      running_ = false;
      return Due::kLimit;
    }
    notice_ = now + std::min<Clock::duration>(now - begin_, kMaxBetween);
    return Due::kNotice;
  }

  const char* name() const { return name_; }
  std::chrono::milliseconds limit() const { return limit_; }
  std::chrono::seconds Lasted(Time now) const {
    return std::chrono::duration_cast<std::chrono::seconds>(now - begin_);
  }

 private:
  const char* name_ = "";
  std::chrono::milliseconds limit_{0};
  Time begin_;
  Time notice_;
  bool running_ = false;
};

}  // namespace nereid::python
