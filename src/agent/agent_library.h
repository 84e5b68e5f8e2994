// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "base/shared_library.h"
#include "triton/core/tritonrepoagent.h"

namespace nereid::agent {

/// The functions that an agent implements. All except model_action may be null.
struct AgentEntryPoints {
  decltype(&TRITONREPOAGENT_Initialize) initialize = nullptr;
  decltype(&TRITONREPOAGENT_Finalize) finalize = nullptr;
  decltype(&TRITONREPOAGENT_ModelInitialize) model_initialize = nullptr;
  decltype(&TRITONREPOAGENT_ModelFinalize) model_finalize = nullptr;
  decltype(&TRITONREPOAGENT_ModelAction) model_action = nullptr;
};

/// An opened libtritonrepoagent_<name>.so.
class AgentLibrary {
 public:
  /// Opens a library. NOT_FOUND if it cannot be opened or has no TRITONREPOAGENT_ModelAction.
  static base::Result<std::unique_ptr<AgentLibrary>> Open(const std::string& path);
  /// Returns a library that is part of the program. For tests.
  static std::unique_ptr<AgentLibrary> FromEntryPoints(AgentEntryPoints entry_points);

  const AgentEntryPoints& entry_points() const { return entry_points_; }

 private:
  AgentLibrary() = default;
  std::unique_ptr<base::SharedLibrary> library_;
  AgentEntryPoints entry_points_;
};

}  // namespace nereid::agent
