// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <cstddef>
#include <span>
#include <string>

#include "frontend/net/event_loop.h"
#include "frontend/net/tls_context.h"

namespace nereid::frontend::net {

/// A handshake that waits for its client.
class WaitingHandshake : public boost::intrusive::list_base_hook<> {
 public:
  /// Ends the connection. The handshake has been removed from the list.
  virtual void GiveUp(const char* reason) noexcept = 0;

 protected:
  ~WaitingHandshake() = default;
};

/// What the TLS streams of one event loop share: buffers, and the list of the handshakes that wait
/// for their clients. There is a maximum, because each may hold some 50 KiB: beyond it the oldest
/// one is given up, which a client that really wants a connection has finished long before. Loop
/// thread only.
class TlsLoop {
 public:
  /// How many handshakes of a server may wait for their clients, in all of its loops together.
  static constexpr size_t kMaxWaiting = 4096;

  TlsLoop(EventLoop& loop, TlsContext& context, size_t max_waiting = kMaxWaiting)
      : loop_(loop), context_(context), max_waiting_(max_waiting) {}
  TlsLoop(const TlsLoop&) = delete;
  TlsLoop& operator=(const TlsLoop&) = delete;

  /// Gives up the handshakes, now and later, because the server stops: their clients have not
  /// requested anything.
  void BeginDrain() noexcept;

  // ---- For the streams. ----

  EventLoop& event_loop() { return loop_; }
  TlsContext& context() { return context_; }
  /// Returns an empty text for encrypted bytes; the caller clears it again.
  std::string& output() { return output_; }
  /// Returns a buffer for encrypted bytes.
  std::span<char> scratch() { return scratch_; }

  /// Adds the newest handshake, perhaps at the expense of the oldest one. If the server stops, it
  /// is given up at once.
  void Add(WaitingHandshake& handshake) noexcept;
  /// Does nothing if the handshake is not in the list.
  void Remove(WaitingHandshake& handshake) noexcept;

 private:
  void GiveUpFirst(const char* reason) noexcept;

  EventLoop& loop_;
  TlsContext& context_;
  const size_t max_waiting_;
  boost::intrusive::list<WaitingHandshake> waiting_;
  std::string output_;
  std::array<char, 16384> scratch_;
  bool draining_ = false;
};

}  // namespace nereid::frontend::net
