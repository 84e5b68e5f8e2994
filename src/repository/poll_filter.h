// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "repository/model_poll.h"

namespace nereid::repository {

/// Decides which models a scan of the repositories loads. Called by one scan at a time, perhaps
/// several times for one model.
class PollFilter {
 public:
  virtual ~PollFilter() = default;
  /// Returns whether a model that is new or has changed is loaded. If not, the scan leaves it as it
  /// is, and a later load reads its files.
  virtual bool LoadsNow(const ModelDirectory& directory) = 0;
  /// Called for a model whose directory was deleted, before it is unloaded.
  virtual void OnDeleted(const ModelId& id) = 0;
};

}  // namespace nereid::repository
