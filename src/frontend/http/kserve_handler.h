// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "api/inference_service.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// The handler for the KServe v2 protocol and Triton's extensions. Another front end with paths of
/// its own forwards to it.
class KserveRoutes : public HttpHandler {
 public:
  /// Serves the request of `exchange` as if it had come to `route` with `method`: with the same
  /// checks and the same reply. The views in `route` must stay valid until the exchange ends.
  virtual void Serve(Exchange& exchange, const Route& route, Method method) = 0;
  /// Runs `work` on a thread for the operation's cost, and then finishes the exchange: see
  /// OperationPools.
  virtual void Run(Exchange& exchange, api::Operation operation, std::function<void()> work) = 0;
  /// As Serve(), for MayReceiveBody().
  virtual bool MayReceiveBodyAt(Exchange& exchange, const Route& route, Method method) = 0;
  /// The same for LimitBody().
  virtual BodyLimit LimitBodyAt(Exchange& exchange, const Route& route, Method method) = 0;
};

/// Makes a handler that serves from `service`, which must outlive it.
std::shared_ptr<KserveRoutes> MakeKserveHandler(KserveOptions options,
                                                api::InferenceService& service);

}  // namespace nereid::frontend::http
