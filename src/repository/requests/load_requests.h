// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "repository/load_overrides.h"

namespace nereid::repository {

/// The clients' requests to load models, by the name of the model. One request of a model is
/// carried out at a time. The requests that arrive meanwhile wait together and become one load,
/// which is carried out next; all of them get its result. Of their overrides the latest count.
/// Thread-safe; the lock is not held while a load is carried out.
class LoadRequests {
 public:
  using Overrides = std::shared_ptr<const LoadOverrides>;  // null: none
  /// Carries out a load. `is_abandoned` returns whether no client waits for it any more.
  using Execute =
      std::function<base::Status(const Overrides&, const std::function<bool()>& is_abandoned)>;

  /// Carries out the load of a model with `execute`, or waits for the load that replaces this
  /// request. Returns the result of the load, or CANCELLED if `is_abandoned` (may be null) returns
  /// true before it begins, which is called every 100 ms, or if the request is cancelled.
  base::Status Load(const std::string& model, Overrides overrides,
                    const std::function<bool()>& is_abandoned, const Execute& execute);

  /// Cancels the requests for a model that wait, and returns how many there were.
  size_t CancelWaiting(const std::string& model);
  /// Returns how many requests for a model wait.
  size_t CountWaiting(const std::string& model) const;

 private:
  /// Requests that become one load.
  struct Group {
    Overrides overrides;
    size_t clients = 0;  // that wait for the result
    bool is_done = false;
    base::Status result;
  };
  struct Model {
    bool is_loading = false;
    std::shared_ptr<Group> waiting;  // null: no request waits
  };

  /// Adds a request to those that wait.
  std::shared_ptr<Group> Join(const std::string& model, Overrides overrides)
      NEREID_REQUIRES(mutex_);
  /// Removes a client from a group, and the group if it was the last one.
  void Leave(const std::string& model, const std::shared_ptr<Group>& group) NEREID_REQUIRES(mutex_);
  void Finish(Group* group, base::Status result) NEREID_REQUIRES(mutex_);
  void ForgetIfIdle(const std::string& model) NEREID_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::map<std::string, Model> models_ NEREID_GUARDED_BY(mutex_);  // those with requests
};

}  // namespace nereid::repository
