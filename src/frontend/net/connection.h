// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "frontend/net/connection_limit.h"

namespace nereid::frontend::net {

/// One client's connection, for its loop; each front end implements it. Loop thread only.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Begins to serve the client. Called once, when the connection is in the loop's list.
  virtual void Start() = 0;
  /// Called when the server stops, and again some time later. Ends the connection now if no request
  /// is in progress, otherwise after the last one. A connection over which nothing has come yet may
  /// stay until the second call: its client has connected in order to send a request, which may be
  /// on its way.
  virtual void BeginDrain() = 0;
  /// Ends the connection now and removes it from the list. A second call does nothing.
  virtual void Close() = 0;
  /// Called now and then by a front end that counts time in ticks, which are about a second long:
  /// ends the connection if its client has taken too long.
  virtual void CheckTimeout(uint64_t /*tick*/) {}

 private:
  friend class ConnectionList;
  size_t place_ = kNowhere;
  ConnectionLimit::Place counted_;
  static constexpr size_t kNowhere = SIZE_MAX;
};

/// The open connections of one loop. Not thread-safe.
class ConnectionList {
 public:
  bool empty() const { return connections_.empty(); }
  size_t size() const { return connections_.size(); }

  /// Adds a connection, which has a place in the server's limit until it is removed. If it throws
  /// std::bad_alloc, nothing is changed.
  void Add(std::shared_ptr<Connection> connection, ConnectionLimit::Place&& counted = {}) {
    connections_.push_back(std::move(connection));
    connections_.back()->place_ = connections_.size() - 1;
    connections_.back()->counted_ = std::move(counted);
  }

  /// Removes a connection. Returns false if it is not in the list.
  bool Remove(Connection& connection) noexcept {
    const size_t place = connection.place_;
    if (place == Connection::kNowhere) return false;
    connection.place_ = Connection::kNowhere;
    connection.counted_.Release();
    std::swap(connections_[place], connections_.back());
    if (place + 1 != connections_.size()) connections_[place]->place_ = place;
    // The last reference may be this one, and the destructor may read the list.
    const std::shared_ptr<Connection> removed = std::move(connections_.back());
    connections_.pop_back();
    return true;
  }

  /// Puts `with` in the place of a connection that is in the list: it serves the same client from
  /// now on. Returns the other one, of which this may be the last reference.
  std::shared_ptr<Connection> Replace(Connection& connection, std::shared_ptr<Connection> with) {
    const size_t place = std::exchange(connection.place_, Connection::kNowhere);
    with->place_ = place;
    with->counted_ = std::move(connection.counted_);
    return std::exchange(connections_[place], std::move(with));
  }

  /// Calls `step` for each connection. It may remove any of them, but add none. Iterates backwards:
  /// the last connection, which was already visited, takes the place of a removed one.
  template <typename Step>
  void ForEach(const Step& step) {
    for (size_t i = connections_.size(); i-- > 0;) {
      if (i >= connections_.size()) continue;
      const std::shared_ptr<Connection> connection = connections_[i];
      step(*connection);
    }
  }

 private:
  std::vector<std::shared_ptr<Connection>> connections_;
};

}  // namespace nereid::frontend::net
