// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "api/inference_service.h"
#include "api/metadata.h"
#include "base/result.h"
#include "request/inference_request.h"
#include "request/inference_response.h"
#include "request/trace.h"
#include "server/server_settings.h"
#include "triton/core/tritonserver.h"

namespace nereid::server {
class InferenceServer;
}

/// The definition behind the opaque C type. Plug-ins get it while the server is still being made.
struct TRITONSERVER_Server {
  /// Null until the server stands; never changes after that.
  std::atomic<nereid::api::InferenceService*> service{nullptr};
  /// What `service` points to.
  std::shared_ptr<nereid::server::InferenceServer> server;
  /// What the server says of itself while there is no service; plug-ins ask while models load.
  nereid::api::ServerMetadata metadata = {};
};

/// The definition behind the opaque C type.
struct TRITONSERVER_ServerOptions {
  nereid::server::ServerSettings settings;
};

namespace nereid::frontend_capi {

// Behind TRITONSERVER_InferenceRequest stands a request::InferenceRequest whose sink is a
// CallbackSink, behind TRITONSERVER_InferenceResponse a request::InferenceResponse, behind
// TRITONSERVER_InferenceTrace a request::Trace.

inline TRITONSERVER_InferenceRequest* Wrap(request::InferenceRequest* request) {
  return reinterpret_cast<TRITONSERVER_InferenceRequest*>(request);
}

inline request::InferenceRequest* Unwrap(TRITONSERVER_InferenceRequest* request) {
  return reinterpret_cast<request::InferenceRequest*>(request);
}

inline TRITONSERVER_InferenceResponse* Wrap(request::InferenceResponse* response) {
  return reinterpret_cast<TRITONSERVER_InferenceResponse*>(response);
}

inline request::InferenceResponse* Unwrap(TRITONSERVER_InferenceResponse* response) {
  return reinterpret_cast<request::InferenceResponse*>(response);
}

inline TRITONSERVER_InferenceTrace* Wrap(request::Trace* trace) {
  return reinterpret_cast<TRITONSERVER_InferenceTrace*>(trace);
}

inline request::Trace* Unwrap(TRITONSERVER_InferenceTrace* trace) {
  return reinterpret_cast<request::Trace*>(trace);
}

/// A server whose plug-ins can call it: TRITONBACKEND_ModelServer gives them the handle. Whoever
/// makes a server for other than this API's callers keeps the handle for as long.
base::Result<std::unique_ptr<TRITONSERVER_Server>> MakeServer(server::ServerSettings settings);

/// UNAVAILABLE while the server is being made.
base::Result<api::InferenceService*> ServiceOf(TRITONSERVER_Server* server);

}  // namespace nereid::frontend_capi
