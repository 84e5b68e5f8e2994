// SPDX-License-Identifier: Apache-2.0
#include "console/event_broadcast.h"

#include <algorithm>
#include <utility>

namespace nereid::console {

std::string EncodeEvent(std::string_view name, std::string_view data) {
  std::string event = "event: ";
  event.append(name).append("\n");
  while (true) {
    const size_t end = data.find_first_of("\r\n");
    event.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == std::string_view::npos) break;
    // A carriage return and a line feed are one line break.
    const bool is_pair = data.substr(end).starts_with("\r\n");
    data.remove_prefix(end + (is_pair ? 2 : 1));
  }
  return event.append("\n");
}

bool EventBroadcast::Add(const std::shared_ptr<frontend::http::ReplyStream>& viewer,
                         std::string first) {
  const base::MutexLock lock(mutex_);
  if (viewers_.size() >= kMaxViewers) {
    // A comment, which clients ignore, shows which viewers have gone since the last event.
    std::erase_if(viewers_, [](const auto& one) { return !one->Write(200, ":\n\n", false); });
  }
  if (is_ended_ || viewers_.size() >= kMaxViewers) return false;
  viewers_.push_back(viewer);
  (void)viewer->Write(200, std::move(first), /*may_wait=*/false);
  return true;
}

// The events are copied to the streams without the lock, so that a request for another stream does
// not wait meanwhile. Only one thread calls Send, so the events of a viewer keep their order.
void EventBroadcast::Send(const std::string& event) {
  Viewers viewers;
  {
    const base::MutexLock lock(mutex_);
    viewers = viewers_;
  }
  Viewers lost;
  for (const auto& viewer : viewers) {
    if (viewer->Write(200, event, /*may_wait=*/false)) continue;
    viewer->End();
    lost.push_back(viewer);
  }
  if (lost.empty()) return;
  const base::MutexLock lock(mutex_);
  std::erase_if(viewers_, [&](const auto& viewer) {
    return std::find(lost.begin(), lost.end(), viewer) != lost.end();
  });
}

bool EventBroadcast::HasViewers() const {
  const base::MutexLock lock(mutex_);
  return !viewers_.empty();
}

void EventBroadcast::EndAll() {
  Viewers viewers;
  {
    const base::MutexLock lock(mutex_);
    is_ended_ = true;
    viewers.swap(viewers_);
  }
  for (const auto& viewer : viewers) viewer->End();
}

}  // namespace nereid::console
