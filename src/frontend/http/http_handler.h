// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "frontend/http/exchange.h"
#include "frontend/http/request_body.h"
#include "request/inference_response.h"

namespace nereid::frontend::http {

/// The application behind an HttpServer. The event loops call it, several at the same time; it must
/// not block.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  /// Serves the request of `exchange`: ends the exchange in one of the ways that Exchange
  /// describes, at once or later.
  virtual void Handle(Exchange& exchange) = 0;

  /// Returns whether a large body may be received, whose request has only its head yet. If not, the
  /// reply of `exchange` says why: it is sent, and the connection is closed behind it. So a client
  /// that is refused anyway does not cost the memory for its body.
  virtual bool MayReceiveBody(Exchange& /*exchange*/) { return true; }

  /// Returns the largest body of `exchange`, whose request has only its head yet, beside the bound
  /// of the server on all bodies. Asked for large bodies and those of unknown size. A body that
  /// passes the limit is not received to its end. A body of which the head does not say what it is
  /// has the limit of the smallest thing that it may be.
  virtual BodyLimit LimitBody(Exchange& /*exchange*/) { return {}; }

  /// Returns memory for the binary tensors of the large body of `exchange`, whose request has only
  /// its head yet; see BodyMemorySource (body_receiver.h).
  virtual memory::HostBuffer TakeBodyMemory(Exchange& /*exchange*/, size_t /*size*/) { return {}; }

  /// Makes the reply of `exchange`, in its form, of what the core has sent: `response` is the first
  /// of `count` responses, null if there were none. Returns false if another thread makes it, which
  /// then calls Finish().
  virtual bool MakeInferenceReply(Exchange& exchange,
                                  std::unique_ptr<request::InferenceResponse> response,
                                  int count) = 0;

  /// Returns whether the connections have to record when requests are received.
  virtual bool WantsTimes() const { return false; }

  /// Drops `owner`, which holds much memory. A handler that has a thread for this uses it, because
  /// the kernel needs long to take memory back.
  virtual void FreeElsewhere(std::shared_ptr<void> owner) { owner.reset(); }

  /// Drops the work that other threads have not begun, and waits for the rest. The thread that
  /// stops the server calls this after the loops have ended, so that the last owner of the handler
  /// is never one of the handler's own threads.
  virtual void Stop() {}
};

}  // namespace nereid::frontend::http
