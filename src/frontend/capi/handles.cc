// SPDX-License-Identifier: Apache-2.0
#include "frontend/capi/handles.h"

namespace nereid::frontend_capi {

base::Result<api::InferenceService*> ServiceOf(TRITONSERVER_Server* server) {
  api::InferenceService* service = server->service.load(std::memory_order_acquire);
  if (service == nullptr) {
    return base::Status::Unavailable("the server is not up yet: its models are still being loaded");
  }
  return service;
}

}  // namespace nereid::frontend_capi
