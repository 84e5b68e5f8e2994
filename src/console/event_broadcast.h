// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "frontend/http/reply_stream.h"

namespace nereid::console {

/// Returns a server-sent event (HTML standard, section 9.2). `name` has no line breaks; each line
/// of `data` becomes a line of the event.
std::string EncodeEvent(std::string_view name, std::string_view data);

/// The viewers of one kind of events. A viewer whose connection takes its events more slowly than
/// they come is dropped: what waits for it is bounded by its stream. Thread-safe.
class EventBroadcast {
 public:
  static constexpr size_t kMaxViewers = 32;

  /// Adds a viewer, which gets `first` and then all later events. Returns false if there are
  /// kMaxViewers, or after EndAll().
  bool Add(const std::shared_ptr<frontend::http::ReplyStream>& viewer, std::string first);

  /// Sends an event to all viewers, and drops those that cannot take it.
  void Send(const std::string& event);

  bool HasViewers() const;

  /// Ends all streams. No viewer is added afterwards.
  void EndAll();

 private:
  using Viewers = std::vector<std::shared_ptr<frontend::http::ReplyStream>>;

  mutable base::Mutex mutex_;
  Viewers viewers_ NEREID_GUARDED_BY(mutex_);
  bool is_ended_ NEREID_GUARDED_BY(mutex_) = false;
};

}  // namespace nereid::console
