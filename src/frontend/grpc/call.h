// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "codec/proto/infer_response.h"
#include "frontend/grpc/call_stream.h"
#include "frontend/grpc/delivery.h"

namespace nereid::frontend::grpc {

/// A call whose work may be done by other threads: adds to its stream the ways back to the event
/// loop. The session owns it until the stream is closed. A request in progress may own it longer;
/// its deliveries are then dropped. Each kind of RPC is a subclass.
class Call : public CallStream, public std::enable_shared_from_this<Call> {
 public:
  explicit Call(const CallOrigin& origin, ResponseFraming framing = {});

  /// Brings a result to OnDelivery() on the event loop: at once if this is its thread and no
  /// earlier result is on its way, else later. So the results of one request, which are delivered
  /// one after the other, arrive in that order, whichever threads deliver them. May be called by
  /// any thread, also after the server is destroyed.
  void Deliver(Delivery delivery);
  const ResponseFraming& framing() const { return framing_; }

  /// Completes the delivery's message as framing() does, on another thread if that would hold up an
  /// event loop, and delivers it. May be called by any thread.
  void CompleteAndDeliver(Delivery delivery);

  // ---- On the event loop. ----

  /// Takes a delivery, or the call's return from a detour.
  void Arrive(Delivery delivery);
  /// Resets the stream, because something failed for lack of memory.
  void Abandon() noexcept;

 protected:
  using Return = InboundMessages::Return;

  /// Takes a delivery, perhaps after the call has finished. Event loop thread.
  virtual void OnDelivery(Delivery delivery) = 0;

  /// Runs `work` on another thread because it would hold up the event loop, then the function that
  /// it returns on the loop, unless the call has finished by then. Meanwhile inbound bytes are
  /// stored. Ends the call with RESOURCE_EXHAUSTED if too much such work waits already.
  void Detour(std::function<Return()> work) final;

  /// Sends a message without tensors. The bytes of such messages that all clients together leave
  /// unread have a limit; a call whose message exceeds it ends with RESOURCE_EXHAUSTED.
  void SendSmallAnswer(codec::proto::EncodedMessage message);

 private:
  void ReadBacklog();
  void DeliverLater(Delivery delivery) noexcept;

  class Arrival;

  const std::shared_ptr<net::Inbox> inbox_;
  std::atomic<size_t> on_their_way_{0};  // the deliveries in the inbox
  net::MemberTask<Call, &Call::Abandon> abandonment_{*this};
};

}  // namespace nereid::frontend::grpc
