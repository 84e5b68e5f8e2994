// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::server {

/// Identifies one waiting request or call. A later one has a greater number.
using Ticket = uint64_t;

/// The requests that wait until their models are in memory, in the order in which they came. The
/// models take turns in the order of their oldest requests, so no model is passed over. Bounded in
/// count and bytes. Without a lock and without a clock.
class WaitLine {
 public:
  struct Limits {
    size_t requests = 1024;
    /// A request that is larger is admitted while no other request waits.
    uint64_t bytes = uint64_t{256} << 20;
  };
  struct Waiting {
    std::string model;
    uint64_t bytes = 0;
    uint64_t since_ns = 0;
    uint64_t expires_ns = 0;  // 0: never
    /// A load that a client has asked for: it needs a load even if the model is in memory. It does
    /// not count towards the limits.
    bool is_load = false;
  };

  explicit WaitLine(Limits limits) : limits_(limits) {}

  /// Adds a request. The ticket must be greater than all before it. Returns UNAVAILABLE, with the
  /// limit, if the line is full.
  base::Status Admit(Ticket ticket, Waiting waiting);
  /// Removes one. Returns false if it does not wait.
  bool Remove(Ticket ticket);
  /// Removes those that wait for the model, up to a ticket, and returns them in order.
  std::vector<Ticket> TakeAll(const std::string& model, Ticket last = UINT64_MAX);
  /// Removes those that have expired and returns them.
  std::vector<Ticket> TakeExpired(uint64_t now_ns);

  /// Returns the model whose oldest request is the oldest of all; null if nothing waits.
  const std::string* First() const;
  bool Waits(const std::string& model) const { return models_.contains(model); }
  /// Returns whether a load of the model was asked for by a client.
  bool WaitsForLoad(const std::string& model) const;
  /// Returns since when the oldest request for the model waits; the model must have one.
  uint64_t Since(const std::string& model) const;
  size_t size() const { return waiting_.size(); }

 private:
  const Limits limits_;
  std::map<Ticket, Waiting> waiting_;
  std::map<std::string, std::set<Ticket>> models_;  // none of the sets is empty
  size_t requests_ = 0;                             // without loads
  uint64_t bytes_ = 0;                              // of these
};

}  // namespace nereid::server
