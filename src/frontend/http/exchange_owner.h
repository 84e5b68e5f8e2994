// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace nereid::frontend::http {

class Connection;
class DeadlineSink;

/// A connection as its exchange and the exchange's sinks see it. Connection implements it.
class ExchangeOwner {
 public:
  /// Receives the news that the reply of the request at hand can be made, or that the final
  /// response has arrived at `sink`, unless it is null. Any thread.
  virtual void Complete(std::shared_ptr<DeadlineSink> sink) noexcept = 0;

  /// Receives the news that the deadline of a request has passed. `awaited` is the sink or the
  /// stream that the request waited for. On the loop's thread.
  virtual void OnDeadline(const std::shared_ptr<const void>& awaited) = 0;

  /// Returns a reference that keeps the connection and its exchange alive.
  virtual std::shared_ptr<Connection> Share() = 0;

 protected:
  ~ExchangeOwner() = default;
};

}  // namespace nereid::frontend::http
