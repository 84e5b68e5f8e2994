// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "api/inference_service.h"
#include "api/trace_settings.h"
#include "base/result.h"
#include "tracing/request_tracer.h"

namespace nereid::tracing {

/// Returns the changes that a client asks for; nothing where it only asks for the settings.
using ReadChanges = std::function<base::Result<std::optional<api::TraceChanges>>()>;

/// Carries out the operation of the trace extension and returns the settings that hold then.
/// `model` is empty for the server's own settings; `tracer` may be null. Returns UNSUPPORTED
/// without a tracer, and INVALID_ARGUMENT for a model that cannot be asked, before `read` is
/// called.
base::Result<api::TraceSettings> AnswerSettingsRequest(RequestTracer* tracer,
                                                       api::InferenceService& service,
                                                       const std::string& model,
                                                       const ReadChanges& read);

}  // namespace nereid::tracing
