// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "frontend/grpc/call.h"
#include "frontend/grpc/flood_guard.h"
#include "frontend/grpc/keep_alive.h"
#include "frontend/grpc/loop_services.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/write_queue.h"

struct nghttp2_session;

namespace nereid::frontend::grpc {

struct ServerContext;

/// HTTP/2 of one connection, without the socket: bytes in, calls, bytes out. Loop thread only.
class Session final : public CallHost {
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

  /// How many of the bytes at hand Receive() is to get at once: few where each may be work, many
  /// inside a message.
  size_t NextSlice() const { return std::max(kSmallSlice, bulk_); }

  /// False when the peer broke the protocol beyond repair, or there is no memory: flush, then
  /// close.
  bool Receive(std::string_view bytes);

  /// So much is to be sent that the client must read before more of what it sends is taken.
  bool IsOverfull() const;

  /// Moves what is to be sent to the queue, until it holds enough for now. False when the
  /// connection must be closed.
  bool FillQueue();
  WriteQueue& queue() { return queue_; }

  /// Nothing more will be read or written.
  bool Finished() const;

  /// Does what time asks for: a PING, the end by age, an end to calls whose clients stall. False
  /// when the connection must be closed.
  bool Upkeep(uint64_t now_ns);
  uint64_t NextUpkeepNs() const { return std::min(keep_alive_.NextNs(), next_tick_ns_); }
  /// Bytes came from the client.
  void Heard(uint64_t now_ns) { keep_alive_.Heard(now_ns); }

  /// Refuses new calls and ends idle ones; finished when the running ones are.
  void GoAway();

  bool received_preface() const { return received_preface_; }

  // ---- CallHost ----

  void CallChanged(Call& call) override;
  bool CountIncomplete(size_t before, size_t now) override;
  void WantsMore(Call& call) override;
  void ResetStream(Call& call, uint32_t error_code) override;

 private:
  friend struct SessionCallbacks;
  static constexpr size_t kSmallSlice = 2048;

  void OpenCall(int32_t stream);
  void CloseCall(Call* call);
  void Refuse(int32_t stream, const CallStatus& status);
  void RefuseHttp(int32_t stream, std::string_view status);
  bool RefusesHead(int32_t stream);
  void SendHeaders(Call& call);
  void SendTrailers(Call& call);
  bool CountFrame(uint8_t type, size_t length, uint8_t flags);
  void TakeNoMoreCalls();
  void Calm(bool allowed);
  void CountPing();
  bool CountHeader(bool is_request, std::string_view name, std::string_view value);
  void CountSent(uint8_t type, uint32_t error_code);

  ServerContext& context_;
  LoopServices& loop_;
  Transport& transport_;
  nghttp2_session* session_ = nullptr;
  WriteQueue queue_;
  RequestHead head_;          // of the call whose headers are arriving
  size_t trailers_size_ = 0;  // likewise, of what a client sends behind its messages
  size_t frame_left_ = 0;     // bytes of the DATA frame that is arriving
  size_t incomplete_ = 0;     // bytes of messages that have not come to their end
  size_t bulk_ = 0;           // of these, bytes that only lengthen a message
  std::vector<std::shared_ptr<Call>> calls_;
  FloodGuard control_frames_;
  FloodGuard resets_;  // streams that end by an error, whoever says so
  PingStrikes strikes_;
  KeepAlive keep_alive_;
  uint64_t next_tick_ns_;
  bool received_preface_ = false;
  bool going_away_ = false;
  bool ending_ = false;  // when all is written
};

}  // namespace nereid::frontend::grpc
