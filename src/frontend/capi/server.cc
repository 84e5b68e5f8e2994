// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_Server*: life, health, metrics and repositories.
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "abi/error.h"
#include "abi/metrics.h"
#include "abi/parameter.h"
#include "frontend/capi/handles.h"
#include "server/inference_server.h"
#include "server/repository_control.h"

using namespace nereid;
using namespace nereid::frontend::capi;

namespace {

/// Returns the server without its front ends; UNAVAILABLE while it is being made.
base::Result<server::InferenceServer*> EngineOf(TRITONSERVER_Server* server) {
  NEREID_ASSIGN_OR_RETURN([[maybe_unused]] auto* service, ServiceOf(server));
  return server->server.get();
}

base::Status Stop(TRITONSERVER_Server* server) {
  NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
  return engine->Stop();
}

/// Returns the mapping of the parameters: the name of each is that of a directory, its text value
/// is the name of the model there.
base::Result<repository::NameMapping> ReadMapping(
    const std::string& repository, std::span<const TRITONSERVER_Parameter* const> parameters) {
  repository::NameMapping mapping;
  for (const TRITONSERVER_Parameter* const parameter : parameters) {
    if (parameter == nullptr) return base::Status::InvalidArgument("a name mapping is NULL");
    const auto* const model = std::get_if<std::string>(&parameter->value);
    if (model == nullptr) {
      return base::Status::InvalidArgument("failed to register '" + repository +
                                           "', the mapping of '" + parameter->name +
                                           "' must be a string, the name of a model");
    }
    if (!mapping.emplace(*model, parameter->name).second) {
      return base::Status::InvalidArgument("failed to register '" + repository +
                                           "', there is a conflicting mapping for '" + *model +
                                           "'");
    }
  }
  return mapping;
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerNew(TRITONSERVER_Server** server,
                                           TRITONSERVER_ServerOptions* options) {
  NEREID_CHECK_NOT_NULL(server, options);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto object, MakeServer(options->settings));
    *server = object.release();
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerDelete(TRITONSERVER_Server* server) {
  if (server == nullptr) return nullptr;
  return abi::Guard([&]() -> base::Status {
    // After an error plug-ins still use the server, so it must not be deleted.
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
  NEREID_CHECK_NOT_NULL(server, repository_path);
  if (mapping_count > 0) NEREID_CHECK_NOT_NULL(name_mapping);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
    NEREID_ASSIGN_OR_RETURN(const auto mapping,
                            ReadMapping(repository_path, {name_mapping, mapping_count}));
    return engine->repositories().Register(repository_path, mapping);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerUnregisterModelRepository(TRITONSERVER_Server* server,
                                                                 const char* repository_path) {
  NEREID_CHECK_NOT_NULL(server, repository_path);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
    return engine->repositories().Unregister(repository_path);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerPollModelRepository(TRITONSERVER_Server* server) {
  NEREID_CHECK_NOT_NULL(server);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
    return engine->repositories().Poll();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerIsLive(TRITONSERVER_Server* server, bool* live) {
  NEREID_CHECK_NOT_NULL(server, live);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(*live, service->IsServerLive());
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerIsReady(TRITONSERVER_Server* server, bool* ready) {
  NEREID_CHECK_NOT_NULL(server, ready);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(*ready, service->IsServerReady());
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerMetrics(TRITONSERVER_Server* server,
                                               TRITONSERVER_Metrics** metrics) {
  NEREID_CHECK_NOT_NULL(server, metrics);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* engine, EngineOf(server));
    *metrics = new TRITONSERVER_Metrics{engine->RenderMetrics()};
    return base::Status::Ok();
  });
}

}  // extern "C"
