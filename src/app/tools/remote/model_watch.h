// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/remote/remote_server.h"
#include "app/tools/remote/replies.h"

namespace nereid::app::tools {

/// Returns the states of a model's versions as one line: "m: version 1 READY, version 2 LOADING".
std::string StatesLine(const std::string& model, const std::vector<IndexedModel>& index);

/// Returns whether a version of the model serves, or is being loaded or unloaded.
bool IsInUse(const std::string& model, const std::vector<IndexedModel>& index);

/// Shows how a model changes while a tool waits for it. Asks the server once a second at most, and
/// not any more after a few failures: progress is a convenience.
class ModelWatch {
 public:
  ModelWatch(RemoteServer& server, std::string model, const ToolContext& context);

  /// Asks if it is time to, and shows what has changed. Returns the index if it was read.
  std::optional<std::vector<IndexedModel>> Poll();
  bool gave_up() const { return failures_ >= kMaxFailures; }

 private:
  static constexpr int kMaxFailures = 3;

  RemoteServer& server_;
  const std::string model_;
  const ToolContext& context_;
  uint64_t next_ns_;
  std::string shown_;
  int failures_ = 0;
};

}  // namespace nereid::app::tools
