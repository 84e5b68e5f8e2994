// SPDX-License-Identifier: Apache-2.0
#include "schedule/response_order.h"

#include <utility>

#include "request/forwarding_sink.h"

namespace nereid::schedule {

using request::InferenceResponse;

/// Passes the responses of one factory to its place instead of to the front end's sink.
class OrderedSink final : public request::ForwardingSink {
 public:
  OrderedSink(std::shared_ptr<request::ResponseSink> next, std::shared_ptr<ResponseOrder> order,
              ResponseOrder::PlaceIterator place)
      : ForwardingSink(std::move(next)), order_(std::move(order)), place_(place) {}

  ~OrderedSink() override { GiveUp(); }

  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
    if (order_ == nullptr) return ForwardingSink::Send(std::move(response), final);
    // The response owns the factory, which owns this sink: after a final response is delivered, no
    // member may be used. Hence the local reference to the order.
    const auto order = final ? std::exchange(order_, nullptr) : order_;
    order->Deliver(place_, {std::move(response), final});
  }

  void GiveUp() {
    if (const auto order = std::exchange(order_, nullptr)) order->Close(place_);
  }

 private:
  // Null after the place is closed. Needs no lock: the responses of one request are sent one at a
  // time, and a refusal comes before any of them.
  std::shared_ptr<ResponseOrder> order_;
  const ResponseOrder::PlaceIterator place_;
};

ResponseOrder::~ResponseOrder() = default;

void ResponseOrder::Reserve(request::ResponseFactory& factory) {
  PlaceIterator place;
  {
    std::lock_guard lock(mutex_);
    place = places_.insert(places_.end(), Place{factory.shared_sink(), {}, false});
  }
  factory.WrapSink(std::make_shared<OrderedSink>(factory.shared_sink(), shared_from_this(), place));
}

void ResponseOrder::GiveUp(request::ResponseFactory& factory) {
  if (auto* sink = dynamic_cast<OrderedSink*>(&factory.sink())) sink->GiveUp();
}

size_t ResponseOrder::places() const {
  std::lock_guard lock(mutex_);
  return places_.size();
}

void ResponseOrder::Deliver(PlaceIterator place, Event event) {
  std::unique_lock lock(mutex_);
  if (event.final) place->closed = true;
  place->held.push_back(std::move(event));
  DrainLocked(lock);
}

void ResponseOrder::Close(PlaceIterator place) {
  std::unique_lock lock(mutex_);
  place->closed = true;
  DrainLocked(lock);
}

void ResponseOrder::DrainLocked(std::unique_lock<std::mutex>& lock) {
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
      lock.unlock();
      done.clear();
      lock.lock();
      continue;
    }
    std::vector<Event> events = std::exchange(front.held, {});
    const std::shared_ptr<request::ResponseSink> sink = front.sink;
    lock.unlock();
    for (Event& event : events) sink->Send(std::move(event.response), event.final);
    lock.lock();
  }
  sending_ = false;
}

}  // namespace nereid::schedule
