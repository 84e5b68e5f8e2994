// SPDX-License-Identifier: Apache-2.0
#include "api/inference_service.h"

#include "api/unsupported.h"

namespace nereid::api {

LogSettings InferenceService::UpdateLogSettings(const LogChanges& changes) {
  ChangeLogSettings(changes);
  return GetLogSettings();
}

base::Result<TraceSettings> InferenceService::UpdateTraceSettings(const std::string& model,
                                                                  const ReadTraceChanges& read) {
  if (trace_control_ == nullptr) return ExtensionUnsupported("trace");
  if (!model.empty()) {
    NEREID_ASSIGN_OR_RETURN(const bool ready, IsModelReady(model, -1));
    if (!ready) return base::Status::InvalidArgument("Request for unknown model : " + model);
  }
  NEREID_ASSIGN_OR_RETURN(const std::optional<TraceChanges> changes, read());
  if (!changes) return trace_control_->Settings(model);
  return trace_control_->Change(model, *changes);
}

}  // namespace nereid::api
