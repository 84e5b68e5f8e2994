// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "request/response_factory.h"

namespace nereid::schedule {

class OrderedSink;

/// Sends the responses of a model in the order in which its requests were accepted
/// (dynamic_batching.preserve_ordering), whichever instance finishes first.
///
/// Each request reserves a place. The responses of the request in front pass straight through, also
/// the partial ones of a decoupled model; those of the others are held until every earlier place is
/// closed. A final response closes a place, and so does the end of the response factory, so a place
/// cannot stay open for ever while its request is gone. Errors of executions take part in the
/// order.
///
/// The scheduler reserves in Enqueue. A response cache that answers a request before the scheduler
/// sees it reserves a place itself (Scheduler::response_order() gives this object, null where order
/// is not promised), then sends through the request's factory: the hit waits for earlier misses.
///
/// Thread-safe. No lock is held while a sink is called; responses leave one at a time, on the
/// thread that brought the last missing piece.
class ResponseOrder : public std::enable_shared_from_this<ResponseOrder> {
 public:
  ResponseOrder() = default;
  ~ResponseOrder();

  /// Takes the next place for the responses of `factory`, whose request is accepted and not queued
  /// where another thread could answer it yet. Wraps the factory's sink; may be called with the
  /// caller's lock held.
  void Reserve(request::ResponseFactory& factory);

  /// Gives the place back: what the factory sends from now on passes at once. For a request that is
  /// refused while it waits; nothing must have been sent for it. May send what others hold, so no
  /// lock may be held. Does nothing for a factory without a place.
  void GiveUp(request::ResponseFactory& factory);

  /// Places that are open or hold responses.
  size_t places() const;

 private:
  friend class OrderedSink;

  struct Event {
    std::unique_ptr<request::InferenceResponse> response;
    bool final = false;
  };
  struct Place {
    std::shared_ptr<request::ResponseSink> sink;  // the front end's
    std::vector<Event> held;
    bool closed = false;  // nothing more will be added to `held`
  };
  using PlaceIterator = std::list<Place>::iterator;

  void Deliver(PlaceIterator place, Event event);
  void Close(PlaceIterator place);
  /// Sends what the places in front hold, until one is open and holds nothing.
  void DrainLocked(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::list<Place> places_;  // guarded by mutex_
  bool sending_ = false;     // guarded by mutex_: a thread is in DrainLocked, it will see to all
};

}  // namespace nereid::schedule
