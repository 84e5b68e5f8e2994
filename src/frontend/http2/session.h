// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "frontend/http2/connection_limits.h"
#include "frontend/http2/keep_alive.h"
#include "frontend/http2/session_options.h"
#include "frontend/http2/stream.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/out_queue.h"
#include "frontend/net/peer.h"

namespace nereid::frontend::http2 {

class Session;
struct SessionEvents;

/// The border to nghttp2, which calls C functions for a session.
struct SessionCallbacks {
  /// Returns an nghttp2 session that reports to `session`; null if there is no memory.
  static nghttp2_session* NewSession(Session* session);
  /// Returns what makes nghttp2 send the bytes that a stream has.
  static nghttp2_data_provider BodyOf(Stream& stream);
};

/// HTTP/2 of one connection, without the socket: takes received bytes, makes streams, and provides
/// the bytes to send. Event loop thread only.
class Session final : public StreamHost {
 public:
  /// The socket's side.
  class Transport {
   public:
    /// Has FillQueue() called at the end of the loop's turn, because there is something to send.
    virtual void RequestFlush() = 0;
    /// Returns who the client is.
    virtual const net::Peer& peer() = 0;

   protected:
    ~Transport() = default;
  };

  /// All references must outlive the session.
  Session(const SessionOptions& options, StreamMaker& maker, net::EventLoop& loop,
          Transport& transport);
  /// Detaches every stream.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Returns how many of the received bytes the next Receive() should get: few where each byte may
  /// cost work, many inside of a message. The caller looks at the clock in between.
  size_t NextSlice() const { return std::max(kSmallSlice, bulk_); }

  /// Takes received bytes. Returns false if the client broke the protocol beyond repair or there is
  /// no memory: flush, then close.
  bool Receive(std::string_view bytes);

  /// Returns whether so much is to be sent that the client must read before more of its bytes are
  /// taken.
  bool IsOverfull() const;

  /// Moves what is to be sent to the queue, until it holds enough for now. Returns false when the
  /// connection must be closed.
  bool FillQueue();
  /// Returns whether the last FillQueue() left something to be sent.
  bool filled_up() const { return filled_up_; }
  net::OutQueue& queue() { return queue_; }

  /// Returns whether nothing more will be read or written.
  bool Finished() const;

  /// Sends a PING, or GOAWAY because of the connection's age, and ticks all streams, as far as each
  /// is due. Returns false when the connection must be closed.
  bool Upkeep(uint64_t now_ns);
  uint64_t NextUpkeepNs() const { return std::min(keep_alive_.NextNs(), next_tick_ns_); }
  /// Notes that bytes came from the client. Returns whether NextUpkeepNs() may be sooner than
  /// before.
  bool Heard(uint64_t now_ns) { return keep_alive_.Heard(now_ns); }

  /// Refuses new requests and ends idle streams. The session is finished when the others are.
  void GoAway();

  bool received_preface() const { return received_preface_; }
  /// Returns whether a reply, or the beginning of one, is in the queue or was written.
  bool has_replied() const { return has_replied_; }

  // ---- StreamHost ----

  void StreamChanged(Stream& stream) override;
  void WantsMore(Stream& stream) override;
  void ResetStream(Stream& stream, uint32_t error_code) override;
  void SendContinue(Stream& stream) override;
  const net::Peer& peer() override { return transport_.peer(); }

 private:
  friend struct SessionEvents;
  static constexpr size_t kSmallSlice = 512;
  // Frames of a few bytes take longer than their bytes; the caller looks at the clock in between.
  static constexpr size_t kFullQueueFrames = 128;

  /// The legal transitions:
  ///
  ///   kServing -> kDraining             GOAWAY was sent: no new requests, the running ones finish
  ///   kServing, kDraining -> kEvicting  a flood: nghttp2 sends GOAWAY with ENHANCE_YOUR_CALM,
  ///                                     ignores all that arrives, and then wants to close
  ///   kServing, kDraining -> kClosing   too many PINGs: closed when the queue is written
  enum class Phase : uint8_t { kServing, kDraining, kEvicting, kClosing };

  Opening OpeningOf(int32_t stream) { return {session_, stream, *this, limits_.incomplete()}; }
  void OpenStream(int32_t id, bool has_body);
  void CloseStream(Stream* stream);
  void BeginDraining();
  /// Counts a tick of the connection. Returns false if a head takes too long.
  bool Tick();
  /// Ends the connection unless `verdict` is kAllowed.
  void Enforce(ConnectionLimits::Verdict verdict);

  const SessionOptions& options_;
  StreamMaker& maker_;
  Transport& transport_;
  const uint64_t tick_ns_;
  nghttp2_session* session_;
  // Enough to keep a socket busy; the rest waits in the streams, where flow control can hold it.
  net::OutQueue queue_{size_t{512} << 10};
  size_t frame_left_ = 0;  // bytes of the DATA frame that is arriving
  size_t bulk_ = 0;        // of these, bytes that only lengthen a message
  std::vector<std::shared_ptr<Stream>> streams_;
  ConnectionLimits limits_;
  KeepAlive keep_alive_;
  uint64_t next_tick_ns_;
  uint64_t head_ticks_ = 0;  // since the head began
  uint64_t idle_ticks_ = 0;  // since the last stream was closed
  // A head is arriving. Stays true after a malformed one until the next frame, because its rest may
  // never come.
  bool in_head_ = false;
  bool received_preface_ = false;
  bool has_replied_ = false;
  bool filled_up_ = false;
  Phase phase_ = Phase::kServing;
};

}  // namespace nereid::frontend::http2
