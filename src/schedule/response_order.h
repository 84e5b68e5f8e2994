// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "request/response_factory.h"
#include "request/response_queue.h"

namespace nereid::schedule {

class OrderedSink;

/// Sends the responses of a model in the order in which its requests were accepted
/// (dynamic_batching.preserve_ordering), in whatever order the instances finish.
///
/// Each request reserves a place. The responses of the request in front are sent at once, including
/// the partial responses of a decoupled model. The responses of other requests are held until every
/// earlier place is closed. A place is closed by a final response or by the destruction of the
/// response factory, so it cannot stay open after its request is gone. Error responses of
/// executions keep the order too.
///
/// The scheduler reserves the place in Enqueue. A response cache that answers a request before the
/// scheduler sees it must reserve a place itself (RequestTarget::response_order()) and send through
/// the request's factory: so a cache hit waits for earlier misses.
///
/// Thread-safe. No lock is held while a sink is called. Responses are sent one at a time, by the
/// thread that delivered the response or closed the place that the others waited for.
class ResponseOrder : public std::enable_shared_from_this<ResponseOrder> {
 public:
  ResponseOrder() = default;
  ~ResponseOrder();

  /// Memory for one place; see Prepare. Reserves nothing.
  class Reservation;

  /// Allocates the memory that Commit needs for the responses of `factory`.
  static void Prepare(request::ResponseFactory& factory, Reservation* reservation);

  /// Reserves the next place for the responses of `factory` and wraps the factory's sink. The
  /// request must be accepted and not yet be queued where another thread could answer it. The
  /// caller may hold its own lock. Does not throw.
  void Commit(Reservation& reservation, request::ResponseFactory& factory);

  /// Prepares and commits. Reserves nothing if it throws std::bad_alloc.
  void Reserve(request::ResponseFactory& factory);

  /// Gives the place back, for a request that is refused while it waits. `factory` must not have
  /// sent a response; its later responses are sent at once. Must be called without a lock, because
  /// responses that others hold may be sent. Does nothing for a factory without a place.
  void Withdraw(request::ResponseFactory& factory);

  /// Returns the number of places that are open or hold responses.
  size_t places() const;

 private:
  friend class OrderedSink;

  struct Place {
    std::shared_ptr<request::ResponseSink> sink;  // the front end's
    request::ResponseQueue held;
    bool closed = false;  // nothing will be added to `held`
  };
  using PlaceIterator = std::list<Place>::iterator;

  /// Adds an event to a place.
  void Deliver(PlaceIterator place, request::ResponseQueue::Event event);
  void Close(PlaceIterator place);
  /// Sends the responses that the places in front hold, until the first place is open and holds
  /// nothing. Releases mutex_ while it sends.
  void Drain() NEREID_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::list<Place> places_ NEREID_GUARDED_BY(mutex_);
  /// A thread is in Drain and will send everything.
  bool sending_ NEREID_GUARDED_BY(mutex_) = false;
};

class ResponseOrder::Reservation {
 private:
  friend class ResponseOrder;
  std::list<Place> place_;  // one place, or none
  std::shared_ptr<OrderedSink> sink_;
};

}  // namespace nereid::schedule
