// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/inference_service.h"
#include "base/result.h"
#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_options.h"

namespace nereid::frontend::http {

/// Serves the KServe v2 protocol and Triton's extensions to it from `service`, which must outlive
/// the handler. UNSUPPORTED for options that this version does not have.
base::Result<std::shared_ptr<HttpHandler>> MakeKserveHandler(KserveOptions options,
                                                             api::InferenceService& service);

}  // namespace nereid::frontend::http
