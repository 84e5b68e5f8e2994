// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "api/inference_service.h"
#include "api/metadata.h"
#include "base/result.h"
#include "server/server_settings.h"
#include "triton/core/tritonserver.h"

namespace nereid::server {
class InferenceServer;
}

/// The definition of the opaque C type. Plug-ins get the handle while the server is being made.
struct TRITONSERVER_Server {
  /// Null until the server has been made; then the address of `server`, which does not change.
  /// Any thread may read it; the other members belong to the thread that makes the server.
  std::atomic<nereid::api::InferenceService*> service{nullptr};
  std::shared_ptr<nereid::server::InferenceServer> server;
  /// The answer to TRITONSERVER_ServerMetadata while `service` is null: plug-ins ask for it while
  /// models are loaded. Set before the server is made.
  nereid::api::ServerMetadata metadata = {};
};

/// The definition of the opaque C type.
struct TRITONSERVER_ServerOptions {
  nereid::server::ServerSettings settings;
};

namespace nereid::frontend::capi {

/// Makes a server whose plug-ins can call it: TRITONBACKEND_ModelServer gives them the handle. The
/// caller keeps the handle as long as the server.
base::Result<std::unique_ptr<TRITONSERVER_Server>> MakeServer(server::ServerSettings settings);

/// Returns the operations of the server; UNAVAILABLE while it is being made.
base::Result<api::InferenceService*> ServiceOf(TRITONSERVER_Server* server);

}  // namespace nereid::frontend::capi
