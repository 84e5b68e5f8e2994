// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/options/server_options.h"
#include "base/result.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"

namespace nereid::server {
class InferenceServer;
}

namespace nereid::app {

/// Makes the handler for SageMaker. `kserve` has the settings of inference. `server` must outlive
/// the handler.
std::shared_ptr<frontend::http::HttpHandler> MakeSagemaker(const ServerOptions& options,
                                                           frontend::http::KserveOptions kserve,
                                                           server::InferenceServer& server);

/// The same for Vertex AI. Returns INVALID_ARGUMENT if the environment does not name the routes, or
/// if it is not clear which model is the default.
base::Result<std::shared_ptr<frontend::http::HttpHandler>> MakeVertexAi(
    const ServerOptions& options, frontend::http::KserveOptions kserve,
    server::InferenceServer& server);

}  // namespace nereid::app
