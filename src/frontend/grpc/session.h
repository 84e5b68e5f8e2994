// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/grpc/call_stream.h"
#include "frontend/grpc/connection_limits.h"
#include "frontend/grpc/keep_alive.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/write_queue.h"
#include "frontend/net/event_loop.h"
#include "frontend/net/peer.h"

struct nghttp2_session;

namespace nereid::frontend::grpc {

class Session;
struct SessionEvents;
struct ServerContext;

/// The border to nghttp2, which calls C functions for a session.
struct SessionCallbacks {
  /// Returns an nghttp2 session that reports to `session`; null if there is no memory.
  static nghttp2_session* NewSession(Session* session);
  /// Queues the response headers of a call, whose messages are then read from its outbox.
  static void SubmitResponse(nghttp2_session* session, CallStream& call);
};

/// HTTP/2 of one connection, without the socket: takes received bytes, makes calls, and provides
/// the bytes to send. Event loop thread only.
class Session final : public CallHost {
 public:
  /// The socket's side.
  class Transport {
   public:
    /// Has FillQueue() called at the end of the loop's turn, because there is something to send.
    virtual void RequestFlush() = 0;
    /// Returns who the client is.
    virtual net::Peer peer() const = 0;

   protected:
    ~Transport() = default;
  };

  Session(ServerContext& context, net::EventLoop& loop, Transport& transport);
  /// Cancels every call.
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
  WriteQueue& queue() { return queue_; }

  /// Returns whether nothing more will be read or written.
  bool Finished() const;

  /// Sends a PING, or GOAWAY because of the connection's age, and ticks all calls, as far as each
  /// is due. Returns false when the connection must be closed.
  bool Upkeep(uint64_t now_ns);
  uint64_t NextUpkeepNs() const { return std::min(keep_alive_.NextNs(), next_tick_ns_); }
  /// Notes that bytes came from the client. Returns whether NextUpkeepNs() may be sooner than
  /// before.
  bool Heard(uint64_t now_ns) { return keep_alive_.Heard(now_ns); }

  /// Refuses new calls and ends idle ones. The session is finished when the running calls are.
  void GoAway();

  bool received_preface() const { return received_preface_; }

  // ---- CallHost ----

  void CallChanged(CallStream& call) override;
  void WantsMore(CallStream& call) override;
  void ResetStream(CallStream& call, uint32_t error_code) override;
  std::string PeerAddress() const override { return transport_.peer().address; }

 private:
  friend struct SessionEvents;
  static constexpr size_t kSmallSlice = 2048;
  // Enough to keep a socket busy; the rest waits in outboxes, where flow control can hold it.
  static constexpr size_t kFullQueue = size_t{512} << 10;

  /// The legal transitions:
  ///
  ///   kServing -> kDraining             GOAWAY was sent: no new calls, the running ones finish
  ///   kServing, kDraining -> kEvicting  a flood: nghttp2 sends GOAWAY with ENHANCE_YOUR_CALM,
  ///                                     ignores all that arrives, and then wants to close
  ///   kServing, kDraining -> kClosing   too many PINGs: closed when the queue is written
  enum class Phase : uint8_t { kServing, kDraining, kEvicting, kClosing };

  void OpenCall(int32_t stream);
  void CloseCall(CallStream* call);
  /// Answers a request that cannot be a call, by its headers alone. Returns whether it has.
  bool RefuseByHead(int32_t stream);
  /// Returns who the client is, if the server's gate asks for it, else null. Not before the first
  /// call: TLS knows the client only after the handshake.
  const net::Peer* FindPeer();
  void Refuse(int32_t stream, const CallStatus& status);
  void RecordRefusal(int status);
  void BeginDraining();
  /// Ends the connection unless `verdict` is kAllowed.
  void Enforce(ConnectionLimits::Verdict verdict);

  ServerContext& context_;
  net::EventLoop& loop_;
  Transport& transport_;
  nghttp2_session* session_;
  WriteQueue queue_;
  RequestHead head_;       // of the call whose headers are arriving
  size_t frame_left_ = 0;  // bytes of the DATA frame that is arriving
  size_t bulk_ = 0;        // of these, bytes that only lengthen a message
  std::vector<std::shared_ptr<CallStream>> calls_;
  ConnectionLimits limits_;
  KeepAlive keep_alive_;
  uint64_t next_tick_ns_;
  Phase phase_ = Phase::kServing;
  bool received_preface_ = false;
  std::optional<net::Peer> peer_;  // see FindPeer()
};

}  // namespace nereid::frontend::grpc
