// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "frontend/grpc/call.h"
#include "frontend/grpc/event_loop.h"
#include "frontend/grpc/flood_guard.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/write_queue.h"

struct nghttp2_session;

namespace nereid::frontend::grpc {

struct ServerContext;

/// HTTP/2 of one connection, without the socket: bytes in, calls, bytes out. Loop thread only.
class Session {
 public:
  /// Gets told when there is something to send, so that it is sent at the end of the loop's turn.
  class Transport {
   public:
    virtual void RequestFlush() = 0;

   protected:
    ~Transport() = default;
  };

  Session(ServerContext& context, LoopServices& loop, Transport& transport);
  /// Cancels every call.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// False when the peer broke the protocol beyond repair: flush, then close.
  bool Receive(std::string_view bytes);

  /// Moves what is to be sent to the queue, until it holds enough for now. False when the
  /// connection must be closed.
  bool FillQueue();
  WriteQueue& queue() { return queue_; }

  /// Nothing more will be read or written.
  bool Finished() const;

  /// Refuses new calls and ends idle ones; finished when the running ones are.
  void GoAway();

  bool received_preface() const { return received_preface_; }

  // ---- For calls. ----

  /// `call` has bytes to send, or has ended.
  void CallChanged(Call& call);
  /// Ends the stream at once.
  void ResetStream(Call& call, uint32_t error_code);

 private:
  friend struct SessionCallbacks;

  void OpenCall(int32_t stream);
  void CloseCall(Call* call);
  void Refuse(int32_t stream, const CallStatus& status);
  void RefuseHttp(int32_t stream, std::string_view status);
  bool RefusesHead(int32_t stream);
  void SendHeaders(Call& call);
  void SendTrailers(Call& call);
  bool CountFrame(uint8_t type, size_t length, uint8_t flags);
  void Calm(bool allowed);

  ServerContext& context_;
  LoopServices& loop_;
  Transport& transport_;
  nghttp2_session* session_ = nullptr;
  WriteQueue queue_;
  RequestHead head_;  // of the call whose headers are arriving
  std::vector<std::shared_ptr<Call>> calls_;
  FloodGuard control_frames_;
  FloodGuard resets_;
  bool received_preface_ = false;
  bool going_away_ = false;
};

}  // namespace nereid::frontend::grpc
