// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "framework/session.h"

namespace nereid::framework {

/// A session on the CPU that consists of one session for each number of threads, made when the
/// number is used first.
class VariedSession final : public Session {
 public:
  /// Returns the session for a number of threads, for which the model has been prepared. May throw.
  using Make = std::function<std::unique_ptr<Session>(uint32_t threads)>;

  /// `single`, for one thread, is used until the number of threads is set.
  VariedSession(std::unique_ptr<Session> single, Make make)
      : make_(std::move(make)), current_(single.get()) {
    sessions_.emplace(1, std::move(single));
  }

  /// Keeps the present number if there is no memory for a session.
  void SetThreads(uint32_t threads) noexcept override {
    const Error ignored = backend::Catching([&]() -> Error {
      std::unique_ptr<Session>& session = sessions_[threads];
      if (session == nullptr) {
        session = make_(threads);
      }
      if (session != nullptr) {
        current_ = session.get();
      }
      return {};
    });
  }

  bool may_repeat() const override { return current_->may_repeat(); }
  Error Run(std::span<const InputTensor> inputs, std::span<const size_t> outputs,
            std::span<OutputTensor> results) override {
    return current_->Run(inputs, outputs, results);
  }
  Error RunOpen(std::span<const InputTensor> inputs, std::vector<OutputTensor>* results) override {
    return current_->RunOpen(inputs, results);
  }

 private:
  const Make make_;
  std::map<uint32_t, std::unique_ptr<Session>> sessions_;
  Session* current_;
};

}  // namespace nereid::framework
