// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/status.h"
#include "repository/loaded_model.h"
#include "repository/requests/call_threads.h"

namespace nereid::repository {

/// A call that creates a model and may never return, because it runs in a backend.
struct InterruptibleCall {
  using Model = base::Result<std::shared_ptr<LoadedModel>>;

  std::function<Model()> make;
  /// Called every 50 ms while `make` runs; an error means that its result is no longer wanted.
  std::function<base::Status()> check;
  /// Called once, by the thread of the call, when `make` returns after it was given up. The model
  /// is destroyed afterwards.
  std::function<void(const Model&)> end_given_up;
  /// Called at most once, before Run returns the error of `check`.
  std::function<void()> give_up;

  /// Runs `make` on one of `threads`, and returns its result or the error of `check`. An exception
  /// of `make` is thrown here. If the system has no thread, `make` runs on this one, and cannot be
  /// interrupted.
  Model Run(CallThreads& threads) const;
};

}  // namespace nereid::repository
