// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace nereid::frontend::http {

class DeadlineSink;
class ReplyStream;

/// The owner of an exchange as the exchange and its sinks see it: a connection of HTTP/1, or a
/// stream of HTTP/2.
class ExchangeOwner {
 public:
  /// Receives the news that the reply of the request at hand can be made, or that the final
  /// response has arrived at `sink`, unless it is null. On the loop's thread.
  virtual void OnCompleted(const std::shared_ptr<DeadlineSink>& sink) noexcept = 0;

  /// Receives the news that `stream` has pieces for the client. On the loop's thread.
  virtual void OnStream(const std::shared_ptr<ReplyStream>& stream) noexcept = 0;

  /// Receives the news that the deadline of the request at hand has passed. On the loop's thread.
  virtual void OnDeadline() noexcept = 0;

  /// Returns a reference that keeps the owner and its exchange alive. Any thread.
  virtual std::shared_ptr<ExchangeOwner> Share() = 0;

 protected:
  ~ExchangeOwner() = default;
};

}  // namespace nereid::frontend::http
