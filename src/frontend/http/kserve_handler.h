// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/inference_service.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"

namespace nereid::frontend::http {

/// Makes a handler that serves the KServe v2 protocol and Triton's extensions from `service`, which
/// must outlive the handler.
std::shared_ptr<HttpHandler> MakeKserveHandler(KserveOptions options,
                                               api::InferenceService& service);

}  // namespace nereid::frontend::http
