// SPDX-License-Identifier: Apache-2.0
#include "schedule/response_order.h"

#include <utility>

#include "request/forwarding_sink.h"

namespace nereid::schedule {

using request::InferenceResponse;

/// Stands between a response factory and its front end's sink while the order is kept.
class OrderedSink final : public request::ForwardingSink {
 public:
  OrderedSink(std::shared_ptr<request::ResponseSink> next, std::shared_ptr<ResponseOrder> order,
              ResponseOrder::PlaceIterator place)
      : ForwardingSink(std::move(next)), order_(std::move(order)), place_(place) {}

  ~OrderedSink() override { GiveUp(); }

  void Send(std::unique_ptr<InferenceResponse> response, bool final) noexcept override {
    if (order_ == nullptr) return ForwardingSink::Send(std::move(response), final);
    // The response keeps the factory, and that this sink: nothing of it may be used once a final
    // one is delivered.
    const auto order = final ? std::exchange(order_, nullptr) : order_;
    order->Deliver(place_, {std::move(response), final});
  }

  void GiveUp() {
    if (const auto order = std::exchange(order_, nullptr)) order->Close(place_);
  }

 private:
  // Null once the place is closed. Used by one thread at a time: responses of one request are sent
  // one at a time, and a refusal comes before any of them.
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
  if (sending_) return;
  sending_ = true;
  while (!places_.empty()) {
    Place& front = places_.front();
    if (front.held.empty()) {
      if (!front.closed) break;
      // The sink may be the last thing that its front end needs: it ends without the lock.
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
