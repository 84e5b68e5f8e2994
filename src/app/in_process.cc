// SPDX-License-Identifier: Apache-2.0
// The functions of include/nereid/in_process.h.
#include "nereid/in_process.h"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "abi/error.h"
#include "app/configure_log.h"
#include "app/endpoints.h"
#include "app/options/command_line.h"
#include "app/server_settings_from_options.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/mutex.h"
#include "frontend/capi/handles.h"
#include "server/inference_server.h"

using namespace nereid;

/// The definition of the opaque C type.
struct NEREID_Frontends {
  /// Destroyed after the endpoints. The server may be deleted before the front ends.
  std::shared_ptr<server::InferenceServer> server;
  std::unique_ptr<app::Endpoints> endpoints;  // does not change
  base::Mutex mutex;
  bool stopped NEREID_GUARDED_BY(mutex) = false;
};

namespace {

/// Returns the path of the engine library, whose neighbors are the plug-ins; "" if it is unknown.
std::string EnginePath() {
  Dl_info info{};
  static const char kHere = 0;
  if (dladdr(&kHere, &info) == 0 || info.dli_fname == nullptr) return {};
  char* const path = ::realpath(info.dli_fname, nullptr);
  if (path == nullptr) return {};
  std::string text(path);
  std::free(path);
  return text;
}

base::Result<app::ServerOptions> ParseFlags(const char* const* flags, uint32_t count,
                                            bool needs_repository) {
  std::vector<std::string> arguments = {"tritonserver"};
  for (uint32_t i = 0; i < count; ++i) {
    if (flags[i] == nullptr) return base::Status::InvalidArgument("a flag is NULL");
    arguments.emplace_back(flags[i]);
  }
  app::CommandLineContext context{EnginePath(), ::getenv, {}};
  context.needs_repository = needs_repository;
  NEREID_ASSIGN_OR_RETURN(app::ParsedCommandLine parsed, app::ParseCommandLine(arguments, context));
  if (parsed.action != app::ParsedCommandLine::Action::kServe) {
    return base::Status::InvalidArgument("--help is not a flag of a server in a process");
  }
  for (const std::string& warning : parsed.warnings) LOG_WARNING << warning;
  return std::move(parsed.options);
}

}  // namespace

extern "C" {

TRITONSERVER_Error* NEREID_ServerNewFromFlags(TRITONSERVER_Server** server,
                                              const char* const* flags, uint32_t flag_count) {
  NEREID_CHECK_NOT_NULL(server);
  if (flag_count > 0) NEREID_CHECK_NOT_NULL(flags);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(const app::ServerOptions options, ParseFlags(flags, flag_count, true));
    NEREID_RETURN_IF_ERROR(app::ConfigureLog(options.log));
    NEREID_ASSIGN_OR_RETURN(auto object,
                            frontend::capi::MakeServer(app::ServerSettingsFrom(options)));
    *server = object.release();
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* NEREID_FrontendsStart(NEREID_Frontends** frontends, TRITONSERVER_Server* server,
                                          const char* const* flags, uint32_t flag_count) {
  NEREID_CHECK_NOT_NULL(frontends, server);
  if (flag_count > 0) NEREID_CHECK_NOT_NULL(flags);
  return abi::Guard([&]() -> base::Status {
    NEREID_RETURN_IF_ERROR(frontend::capi::ServiceOf(server).status());
    NEREID_ASSIGN_OR_RETURN(const app::ServerOptions options, ParseFlags(flags, flag_count, false));
    auto object = std::make_unique<NEREID_Frontends>();
    object->server = server->server;
    object->endpoints = std::make_unique<app::Endpoints>(*object->server);
    NEREID_RETURN_IF_ERROR(object->endpoints->Start(options));
    *frontends = object.release();
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* NEREID_FrontendsPort(NEREID_Frontends* frontends, NEREID_Frontend kind,
                                         uint16_t* port) {
  NEREID_CHECK_NOT_NULL(frontends, port);
  return abi::Guard([&]() -> base::Status {
    const app::Endpoints& endpoints = *frontends->endpoints;
    switch (kind) {
      case NEREID_FRONTEND_HTTP:
        *port = endpoints.port(app::Endpoints::Service::kHttp);
        return {};
      case NEREID_FRONTEND_GRPC:
        *port = endpoints.port(app::Endpoints::Service::kGrpc);
        return {};
      case NEREID_FRONTEND_METRICS:
        *port = endpoints.port(app::Endpoints::Service::kMetrics);
        return {};
    }
    return base::Status::InvalidArgument("there is no front end of kind " +
                                         std::to_string(static_cast<int>(kind)));
  });
}

TRITONSERVER_Error* NEREID_FrontendsStop(NEREID_Frontends* frontends, uint64_t timeout_ms) {
  NEREID_CHECK_NOT_NULL(frontends);
  return abi::Guard([&] {
    const base::MutexLock lock(frontends->mutex);
    if (frontends->stopped) return base::Status::Ok();
    frontends->stopped = true;
    frontends->endpoints->Stop(
        base::Duration::Milliseconds(timeout_ms).After(base::SteadyClock().NowNs()));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* NEREID_FrontendsDelete(NEREID_Frontends* frontends) {
  return abi::Guard([&] {
    delete frontends;
    return base::Status::Ok();
  });
}

}  // extern "C"
