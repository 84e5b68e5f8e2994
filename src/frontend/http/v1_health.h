// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/inference_service.h"
#include "base/result.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// Answers the questions about health of KServe's older protocol, v1, which probes and load
/// balancers still ask: whether the server lives (kV1Live), and whether a model is ready
/// (kV1ModelReady). Returns the JSON document for "yes", or an error for "no".
base::Result<std::string> V1Health(api::InferenceService& service, const Route& route);

}  // namespace nereid::frontend::http
