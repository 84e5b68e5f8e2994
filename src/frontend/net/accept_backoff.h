// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <functional>
#include <string>

namespace nereid::frontend::net {

/// How long a listening socket rests after an accept that failed with this errno: not at all where
/// only the one connection was the matter, and a while where the next accept would fail as well (no
/// file descriptors or memory left, for the process or for the system).
std::chrono::milliseconds PauseAfterAccept(int error);

/// Brings a listening socket of one event loop back to accepting after a failure, and says in the
/// log, at most once in ten seconds for all sockets of the process together, what is lacking. Not
/// thread-safe: everything on the loop's thread.
class AcceptBackoff {
 public:
  /// `service` names the front end in the log ("HTTP").
  AcceptBackoff(boost::asio::io_context& context, std::string service)
      : timer_(context), service_(std::move(service)) {}

  /// Calls `accept` now or after a pause.
  void Retry(const boost::system::error_code& error, std::function<void()> accept);
  /// Forgets a pause that runs: `accept` is not called.
  void Cancel();

 private:
  boost::asio::steady_timer timer_;
  const std::string service_;
};

}  // namespace nereid::frontend::net
