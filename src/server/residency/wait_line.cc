// SPDX-License-Identifier: Apache-2.0
#include "server/residency/wait_line.h"

#include <algorithm>
#include <utility>

namespace nereid::server {

using base::Status;

Status WaitLine::Admit(Ticket ticket, Waiting waiting) {
  if (!waiting.is_load) {
    const bool is_full = requests_ >= limits_.requests;
    const bool is_too_large =
        requests_ > 0 && waiting.bytes > limits_.bytes - std::min(limits_.bytes, bytes_);
    if (is_full || is_too_large) {
      return Status::Unavailable(
          "model '" + waiting.model + "' is not in memory, and " + std::to_string(requests_) +
          " requests with " + std::to_string(bytes_) +
          " bytes wait for models already; the limits are " + std::to_string(limits_.requests) +
          " requests (--model-wait-queue-size) and " + std::to_string(limits_.bytes) + " bytes");
    }
    ++requests_;
    bytes_ += waiting.bytes;
  }
  models_[waiting.model].insert(ticket);
  waiting_.emplace(ticket, std::move(waiting));
  return Status::Ok();
}

bool WaitLine::Remove(Ticket ticket) {
  const auto found = waiting_.find(ticket);
  if (found == waiting_.end()) return false;
  const Waiting& waiting = found->second;
  if (!waiting.is_load) {
    --requests_;
    bytes_ -= waiting.bytes;
  }
  const auto model = models_.find(waiting.model);
  model->second.erase(ticket);
  if (model->second.empty()) models_.erase(model);
  waiting_.erase(found);
  return true;
}

std::vector<Ticket> WaitLine::TakeAll(const std::string& model, Ticket last) {
  const auto found = models_.find(model);
  if (found == models_.end()) return {};
  std::vector<Ticket> tickets(found->second.begin(), found->second.upper_bound(last));
  for (const Ticket ticket : tickets) Remove(ticket);
  return tickets;
}

std::vector<Ticket> WaitLine::TakeExpired(uint64_t now_ns) {
  std::vector<Ticket> expired;
  for (const auto& [ticket, waiting] : waiting_) {
    if (waiting.expires_ns != 0 && waiting.expires_ns <= now_ns) expired.push_back(ticket);
  }
  for (const Ticket ticket : expired) Remove(ticket);
  return expired;
}

const std::string* WaitLine::First() const {
  return waiting_.empty() ? nullptr : &waiting_.begin()->second.model;
}

bool WaitLine::WaitsForLoad(const std::string& model) const {
  const auto found = models_.find(model);
  if (found == models_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [this](Ticket ticket) { return waiting_.at(ticket).is_load; });
}

uint64_t WaitLine::Since(const std::string& model) const {
  return waiting_.at(*models_.at(model).begin()).since_ns;
}

}  // namespace nereid::server
