// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/call.h"

#include <nghttp2/nghttp2.h>

#include <exception>
#include <utility>

#include "base/blocking_workers.h"
#include "frontend/http2/exception_guard.h"

namespace nereid::frontend::grpc {

/// Brings a delivery to its call on the event loop.
class Call::Arrival final : public net::Task {
 public:
  Arrival(std::shared_ptr<Call> call, Delivery delivery)
      : call_(std::move(call)), delivery_(std::move(delivery)) {}

 private:
  void Run() noexcept override {
    call_->on_their_way_.fetch_sub(1, std::memory_order_relaxed);
    const bool arrived = http2::Guarded("gRPC: a call", false, [this] {
      call_->Arrive(std::move(delivery_));
      return true;
    });
    if (!arrived) call_->Abandon();
  }

  const std::shared_ptr<Call> call_;
  Delivery delivery_;
};

Call::Call(const CallOrigin& origin, ResponseFraming framing)
    : CallStream(origin, std::move(framing)), inbox_(origin.loop.inbox()) {}

void Call::Deliver(Delivery delivery) {
  // The loop is only compared: if it is gone, no thread runs it. The thread that has posted an
  // earlier result of the same request has counted it before this call.
  if (net::EventLoop::Current() == &loop_ && on_their_way_.load(std::memory_order_relaxed) == 0) {
    Arrive(std::move(delivery));
  } else {
    DeliverLater(std::move(delivery));
  }
}

// A result that cannot be delivered for lack of memory ends the call, which its client would
// otherwise await for ever. That takes no memory.
void Call::DeliverLater(Delivery delivery) noexcept {
  // After a failure for good: nothing arrives any more before the stream is reset.
  on_their_way_.fetch_add(1, std::memory_order_relaxed);
  try {
    const auto arrival = std::make_shared<Arrival>(shared_from_this(), std::move(delivery));
    inbox_->Post(*arrival, arrival);
  } catch (const std::exception& error) {
    http2::LogException("gRPC: a response", error.what());
    inbox_->Post(abandonment_, shared_from_this());
  }
}

void Call::CompleteAndDeliver(Delivery delivery) {
  if (!delivery.message.has_value()) return Deliver(std::move(delivery));
  if (base::BlockingWorkers* const workers = framing().WorkersFor(*delivery.message)) {
    // std::function requires a copyable function.
    auto held = std::make_shared<Delivery>(std::move(delivery));
    const bool accepted = workers->Run([self = shared_from_this(), held] {
      self->framing().Complete(&*held->message);
      self->Deliver(std::move(*held));
    });
    if (accepted) return;
    delivery = std::move(*held);
  }
  framing().Complete(&*delivery.message);
  Deliver(std::move(delivery));
}

void Call::Detour(std::function<Return()> work) {
  inbound_.Pause();
  // The work refers to the call by `this`. `self`, and then the delivery, keep it alive.
  const bool accepted =
      context_.detours->Run([this, self = shared_from_this(), work = std::move(work)] {
        if (state() == CallState::kDetached) return;  // nobody waits for the result
        Delivery delivery;
        try {
          delivery.back = work();
        } catch (const std::exception&) {
          delivery.back = [this] { End(OutOfMemory()); };
        }
        Deliver(std::move(delivery));
      });
  if (accepted) return;
  inbound_.Resume();
  End({kGrpcResourceExhausted, "too many large messages wait to be taken in: try again later"});
}

void Call::Arrive(Delivery delivery) {
  if (delivery.back == nullptr) return OnDelivery(std::move(delivery));
  inbound_.Resume();
  if (finished() || EndIfTooLate()) {
    inbound_.DropBacklog();
    return;
  }
  delivery.back();
  if (!inbound_.paused() && !finished()) ReadBacklog();
}

void Call::ReadBacklog() {
  uint64_t begin_ns = 0;
  while (inbound_.ReadBacklogSlice()) {
    const uint64_t now_ns = loop_.NowNs();
    if (begin_ns == 0) begin_ns = now_ns;
    if (now_ns - begin_ns < net::EventLoop::kFairNs) continue;
    // Like a detour that has nothing to do: the inbox brings the call back behind the others.
    inbound_.Pause();
    Delivery back;
    back.back = [] {};
    return DeliverLater(std::move(back));
  }
  if (finished() || inbound_.paused()) return;
  const bool at_end = inbound_.DropBacklog();
  host_.WantsMore(*this);
  if (at_end) return ReceiveEnd();
  if (context_.stopping.load(std::memory_order_acquire)) EndIfIdle();
}

void Call::Abandon() noexcept {
  http2::Guarded("gRPC: a call", false, [this] {
    if (state() != CallState::kDetached) host_.ResetStream(*this, NGHTTP2_INTERNAL_ERROR);
    return true;
  });
}

void Call::SendSmallAnswer(codec::proto::EncodedMessage message) {
  base::ByteShare share;
  if (!context_.small_answers->Take(message.size + 1, /*may_wait=*/false, &share)) {
    return End({kGrpcResourceExhausted,
                "clients have left too many answers unread: read the answers, or try again later"});
  }
  SendMessage(std::move(message), std::move(share));
}

}  // namespace nereid::frontend::grpc
