// SPDX-License-Identifier: Apache-2.0
#include "schedule/response_order.h"

#include <utility>

#include "request/forwarding_sink.h"

namespace nereid::schedule {

using base::MutexLock;
using base::MutexUnlock;
using request::InferenceResponse;

/// Passes the responses of one factory to its place instead of to the front end's sink.
class OrderedSink final : public request::ForwardingSink {
 public:
  OrderedSink(std::shared_ptr<request::ResponseSink> next, ResponseOrder::PlaceIterator place)
      : ForwardingSink(std::move(next)), place_(place) {}

  ~OrderedSink() override { ClosePlace(); }

  /// Must be called when the place is in the list of the order.
  void Open(std::shared_ptr<ResponseOrder> order) { order_ = std::move(order); }

  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
    if (order_ == nullptr) return ForwardingSink::Send(std::move(response), final);
    // The response owns the factory, which owns this sink: after a final response is delivered, no
    // member may be used. Hence the local reference to the order.
    const auto order = final ? std::exchange(order_, nullptr) : order_;
    order->Deliver(place_, {std::move(response), final});
  }

  void ClosePlace() {
    if (const auto order = std::exchange(order_, nullptr)) order->Close(place_);
  }

 private:
  // Null before the place is reserved and after it is closed. Needs no lock: the responses of one
  // request are sent one at a time, and a refusal comes before any of them.
  std::shared_ptr<ResponseOrder> order_;
  const ResponseOrder::PlaceIterator place_;
};

ResponseOrder::~ResponseOrder() = default;

void ResponseOrder::Prepare(request::ResponseFactory& factory, Reservation* reservation) {
  Place& place = reservation->place_.emplace_back();
  place.sink = factory.shared_sink();
  reservation->sink_ =
      std::make_shared<OrderedSink>(factory.shared_sink(), reservation->place_.begin());
}

void ResponseOrder::Commit(Reservation& reservation, request::ResponseFactory& factory) {
  {
    MutexLock lock(mutex_);
    places_.splice(places_.end(), reservation.place_);
  }
  reservation.sink_->Open(shared_from_this());
  factory.WrapSink(std::move(reservation.sink_));
}

void ResponseOrder::Reserve(request::ResponseFactory& factory) {
  Reservation reservation;
  Prepare(factory, &reservation);
  Commit(reservation, factory);
}

void ResponseOrder::Withdraw(request::ResponseFactory& factory) {
  if (auto* sink = dynamic_cast<OrderedSink*>(&factory.sink())) sink->ClosePlace();
}

size_t ResponseOrder::places() const {
  MutexLock lock(mutex_);
  return places_.size();
}

void ResponseOrder::Deliver(PlaceIterator place, request::ResponseQueue::Event event) {
  MutexLock lock(mutex_);
  if (event.final) place->closed = true;
  place->held.Push(std::move(event));
  Drain();
}

void ResponseOrder::Close(PlaceIterator place) {
  MutexLock lock(mutex_);
  place->closed = true;
  Drain();
}

void ResponseOrder::Drain() {
  // One thread sends at a time, or responses of two places could overtake each other. A thread that
  // finds another one sending leaves its events in `held`; that thread looks again after each
  // unlock.
  if (sending_) return;
  sending_ = true;
  while (!places_.empty()) {
    Place& front = places_.front();
    if (front.held.empty()) {
      if (!front.closed) break;
      // Destroying the sink may run the front end's code, so the lock is released for it.
      std::list<Place> done;
      done.splice(done.begin(), places_, places_.begin());
      MutexUnlock unlocked(mutex_);
      done.clear();
      continue;
    }
    request::ResponseQueue::Event event = front.held.Pop();
    const std::shared_ptr<request::ResponseSink> sink = front.sink;
    MutexUnlock unlocked(mutex_);
    sink->Send(std::move(event.response), event.final);
  }
  sending_ = false;
}

}  // namespace nereid::schedule
