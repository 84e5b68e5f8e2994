// SPDX-License-Identifier: Apache-2.0
#include "frontend/capi/handles.h"

#include <utility>

#include "server/inference_server.h"
#include "server/server_metadata.h"

namespace nereid::frontend::capi {

base::Result<std::unique_ptr<TRITONSERVER_Server>> MakeServer(server::ServerSettings settings) {
  auto handle = std::make_unique<TRITONSERVER_Server>();
  settings.c_server = handle.get();
  handle->metadata = server::MakeServerMetadata(settings.server_id);
  NEREID_ASSIGN_OR_RETURN(handle->server, server::InferenceServer::Create(std::move(settings)));
  handle->service.store(handle->server.get(), std::memory_order_release);
  return handle;
}

base::Result<api::InferenceService*> ServiceOf(TRITONSERVER_Server* server) {
  api::InferenceService* service = server->service.load(std::memory_order_acquire);
  if (service == nullptr) {
    return base::Status::Unavailable("the server is not up yet: its models are still being loaded");
  }
  return service;
}

}  // namespace nereid::frontend::capi
