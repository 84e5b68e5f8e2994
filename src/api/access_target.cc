// SPDX-License-Identifier: Apache-2.0
#include "api/access_target.h"

#include <string>

namespace nereid::api {

void SetTarget(const request::InferenceRequest& request, AccessRecord* record) {
  if (record == nullptr) return;
  record->SetTarget(request.model_name, request.id);
  SetTrace(request, record);
}

void SetTrace(const request::InferenceRequest& request, AccessRecord* record) {
  if (record == nullptr || request.trace() == nullptr) return;
  const std::string global = request.trace()->listener().GlobalTraceId();
  record->SetTrace(global.empty() ? std::to_string(request.trace()->id()) : global);
}

}  // namespace nereid::api
