// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace torch::jit {
struct Module;
}

namespace nereid::pytorch {

/// What a run of a module's method forward does beside returning results. The module is in
/// evaluation mode: code that only training executes does not count.
struct SideEffects {
  /// For each argument, whether a run may use the memory of the requests for it. That is so if
  /// nothing in the method writes to it and no task that the method starts may run after it.
  /// (References that remain after the run are handled by BorrowedTensors.) Empty means none may.
  std::vector<bool> borrowable;
  /// The names of the attributes that a run changes, sorted: state that it leaves for the next run.
  std::vector<std::string> changed_attributes;
  /// Whether a run certainly leaves nothing behind, so that several threads may run the module at
  /// the same time, and it does not matter how many modules answer the requests. False for a method
  /// that cannot be analyzed completely, even if `changed_attributes` is empty.
  bool leaves_nothing = false;
};

/// Analyzes the method forward, which must exist. If PyTorch fails to analyze it, the result says
/// that nothing is known.
SideEffects FindSideEffects(const torch::jit::Module& module);

}  // namespace nereid::pytorch
