// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_Server*: life, health, metrics and repositories.
#include <memory>
#include <string>
#include <utility>

#include "abi/error.h"
#include "abi/metrics.h"
#include "frontend/capi/handles.h"
#include "server/inference_server.h"

using namespace nereid;
using namespace nereid::frontend_capi;

namespace {

/// The server without its front ends; UNAVAILABLE while it is being made.
base::Result<server::InferenceServer*> EngineOf(TRITONSERVER_Server* server) {
  NEREID_ASSIGN_OR_RETURN([[maybe_unused]] auto* service, ServiceOf(server));
  return server->server.get();
}

base::Status Stop(TRITONSERVER_Server* server) {
  NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
  return engine->Stop();
}

base::Status CheckRegistrationAllowed(TRITONSERVER_Server* server) {
  NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
  if (engine->settings().model_control_mode == server::ModelControlMode::kExplicit) {
    return base::Status::Ok();
  }
  return base::Status::Unsupported(
      "repository registration is not allowed if model control mode is not EXPLICIT");
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerNew(TRITONSERVER_Server** server,
                                           TRITONSERVER_ServerOptions* options) {
  NEREID_CHECK_NOT_NULL(server);
  NEREID_CHECK_NOT_NULL(options);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto object, MakeServer(options->settings));
    *server = object.release();
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerDelete(TRITONSERVER_Server* server) {
  if (server == nullptr) return nullptr;
  return abi::Guard([&]() -> base::Status {
    // When the exit timeout runs out, plug-ins still use the server: it has to stay.
    NEREID_RETURN_IF_ERROR(Stop(server));
    delete server;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerStop(TRITONSERVER_Server* server) {
  NEREID_CHECK_NOT_NULL(server);
  return abi::Guard([&] { return Stop(server); });
}

TRITONSERVER_Error* TRITONSERVER_ServerSetExitTimeout(TRITONSERVER_Server* server,
                                                      unsigned int timeout) {
  NEREID_CHECK_NOT_NULL(server);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
    engine->SetExitTimeout(timeout);
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerRegisterModelRepository(
    TRITONSERVER_Server* server, const char* repository_path,
    const TRITONSERVER_Parameter** name_mapping, uint32_t mapping_count) {
  NEREID_CHECK_NOT_NULL(server);
  NEREID_CHECK_NOT_NULL(repository_path);
  if (mapping_count > 0) NEREID_CHECK_NOT_NULL(name_mapping);
  TRITONSERVER_Error* error = abi::Guard([&] { return CheckRegistrationAllowed(server); });
  return error != nullptr ? error : abi::MissingFeature(__func__, "repository registration");
}

TRITONSERVER_Error* TRITONSERVER_ServerUnregisterModelRepository(TRITONSERVER_Server* server,
                                                                 const char* repository_path) {
  NEREID_CHECK_NOT_NULL(server);
  NEREID_CHECK_NOT_NULL(repository_path);
  TRITONSERVER_Error* error = abi::Guard([&] { return CheckRegistrationAllowed(server); });
  return error != nullptr ? error : abi::MissingFeature(__func__, "repository registration");
}

TRITONSERVER_Error* TRITONSERVER_ServerPollModelRepository(TRITONSERVER_Server* server) {
  NEREID_CHECK_NOT_NULL(server);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
    return engine->PollRepositories();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerIsLive(TRITONSERVER_Server* server, bool* live) {
  NEREID_CHECK_NOT_NULL(server);
  NEREID_CHECK_NOT_NULL(live);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(*live, service->IsServerLive());
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerIsReady(TRITONSERVER_Server* server, bool* ready) {
  NEREID_CHECK_NOT_NULL(server);
  NEREID_CHECK_NOT_NULL(ready);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(*ready, service->IsServerReady());
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerMetrics(TRITONSERVER_Server* server,
                                               TRITONSERVER_Metrics** metrics) {
  NEREID_CHECK_NOT_NULL(server);
  NEREID_CHECK_NOT_NULL(metrics);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
    *metrics = new TRITONSERVER_Metrics{engine->RenderMetrics()};
    return base::Status::Ok();
  });
}

}  // extern "C"
