// SPDX-License-Identifier: Apache-2.0
#include "tracing/settings_request.h"

#include "api/unsupported.h"

namespace nereid::tracing {

base::Result<api::TraceSettings> AnswerSettingsRequest(RequestTracer* tracer,
                                                       api::InferenceService& service,
                                                       const std::string& model,
                                                       const ReadChanges& read) {
  if (tracer == nullptr) return api::ExtensionUnsupported("trace");
  NEREID_RETURN_IF_ERROR(api::CheckTracedModel(service, model));
  NEREID_ASSIGN_OR_RETURN(const std::optional<api::TraceChanges> changes, read());
  if (!changes) return tracer->Settings(model);
  return tracer->Change(model, *changes);
}

}  // namespace nereid::tracing
