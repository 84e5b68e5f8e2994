// SPDX-License-Identifier: Apache-2.0
#include "api/inference_service.h"

#include "api/unsupported.h"
#include "api/version_text.h"

namespace nereid::api {

LogSettings InferenceService::UpdateLogSettings(const LogChanges& changes) {
  ChangeLogSettings(changes);
  return GetLogSettings();
}

base::Result<int64_t> InferenceService::ResolveVersion(const std::string& model,
                                                       std::string_view text, LabelUse use) {
  // No version number begins with a letter, so a label is none.
  const bool is_label =
      controls_.rollouts != nullptr && IsVersionLabel(text) && controls_.rollouts->Has(model);
  return is_label ? controls_.rollouts->FindLabel(model, text, use) : ParseVersionText(text);
}

base::Status InferenceService::SetVersion(std::string_view text, request::RequestFields* request) {
  NEREID_ASSIGN_OR_RETURN(request->model_version,
                          ResolveVersion(request->model_name, text, LabelUse::kInference));
  if (IsVersionLabel(text)) request->model_label = text;
  return base::Status::Ok();
}

base::Result<TraceSettings> InferenceService::UpdateTraceSettings(const std::string& model,
                                                                  const ReadTraceChanges& read) {
  // The model is asked without the lock: a plug-in that is slow to answer delays no other caller.
  base::Result<bool> ready = true;
  if (!model.empty()) ready = IsModelReady(model, -1);
  const base::MutexLock lock(trace_mutex_);
  if (trace_control_ == nullptr) return ExtensionUnsupported("trace");
  if (!ready.ok()) return ready.status();
  if (!*ready) return base::Status::InvalidArgument("Request for unknown model : " + model);
  NEREID_ASSIGN_OR_RETURN(const std::optional<TraceChanges> changes, read());
  if (!changes) return trace_control_->Settings(model);
  return trace_control_->Change(model, *changes);
}

void InferenceService::ReplaceTraceControl(const TraceControl* from, TraceControl* to) {
  const base::MutexLock lock(trace_mutex_);
  if (trace_control_ == from) trace_control_ = to;
}

}  // namespace nereid::api
