// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/uio.h>

#include <boost/asio/error.hpp>
#include <cstddef>
#include <span>
#include <utility>

#include "frontend/net/listener.h"

namespace nereid::frontend::http {

/// The socket of one client. Reading and writing are direct calls to the kernel, which never block;
/// Asio only reports that the socket is ready. On the loop's thread.
///
/// The functions On…(then) call `then` once, at the next event, unless the socket is closed before.
/// `then` has to keep the socket's owner alive.
class ClientSocket {
 public:
  explicit ClientSocket(net::Socket socket) : socket_(std::move(socket)) {}

  /// Sets the options of a socket that was just accepted.
  void Prepare();

  struct Received {
    size_t size = 0;    // 0: nothing is there now, unless one of the others is set
    bool end = false;   // the client has finished sending (FIN)
    bool lost = false;  // the connection is broken
  };
  Received Receive(std::span<char> room);

  struct Sent {
    size_t size = 0;
    bool full = false;  // the socket's buffer has no room now
    bool lost = false;  // the connection is broken
  };
  Sent Send(std::span<iovec> pieces);

  /// Sends "100 Continue". It is lost if the socket's buffer is full.
  void SendContinue();
  /// Sends FIN: the client sees the end of the replies, and can still send.
  void FinishSending();

  /// Returns whether the connection is broken (reset, timed out), which is not the same as ended.
  bool IsLost() const;
  void Close();

  template <typename Then>
  void OnReadable(Then then) {
    if (std::exchange(awaits_readable_, true)) return;
    socket_.async_wait(net::Socket::wait_read, [this, then = std::move(then)](const auto& error) {
      awaits_readable_ = false;
      if (!error) then();
    });
  }
  template <typename Then>
  void OnWritable(Then then) {
    socket_.async_wait(net::Socket::wait_write, [then = std::move(then)](const auto& error) {
      if (!error) then();
    });
  }
  /// The event: the connection is broken. From now on the kernel asks every few seconds whether the
  /// client's host still exists. A second call does nothing.
  template <typename Then>
  void OnLost(Then then) {
    if (std::exchange(awaits_loss_, true)) return;
    KeepAliveOften();
    socket_.async_wait(net::Socket::wait_error, [this, then = std::move(then)](const auto& error) {
      // A FIN wakes the wait as well: it is no loss.
      if (!error && IsLost()) then();
    });
  }

  net::Socket::executor_type executor() { return socket_.get_executor(); }

 private:
  void KeepAliveOften();

  net::Socket socket_;
  bool awaits_readable_ = false;
  bool awaits_loss_ = false;
};

}  // namespace nereid::frontend::http
