// SPDX-License-Identifier: Apache-2.0
// TRITONSERVER_Server*: metadata, configuration and statistics of models, loads and unloads.
#include <string>
#include <utility>
#include <vector>

#include "abi/error.h"
#include "abi/message.h"
#include "abi/parameter.h"
#include "codec/json/model_config.h"
#include "codec/json/model_metadata.h"
#include "codec/json/model_statistics.h"
#include "codec/json/repository_index.h"
#include "codec/json/server_metadata.h"
#include "config/load_parameter.h"
#include "frontend/capi/handles.h"

using namespace nereid;
using namespace nereid::frontend::capi;
namespace json = nereid::codec::json;

namespace {

constexpr uint32_t kConfigVersion = 1;

/// Returns a parameter of a load. Returns INVALID_ARGUMENT unless "config" is a string and "file:…"
/// is bytes.
base::Result<api::LoadParameter> ReadLoadParameter(const TRITONSERVER_Parameter& parameter) {
  const config::LoadParameterKind kind = config::KindOfLoadParameter(parameter.name);
  if (kind == config::LoadParameterKind::kConfig) {
    if (const auto* text = std::get_if<std::string>(&parameter.value)) {
      return api::LoadParameter{parameter.name, *text};
    }
  } else if (kind == config::LoadParameterKind::kFile) {
    if (const auto* bytes = std::get_if<std::string_view>(&parameter.value)) {
      return api::LoadParameter{parameter.name, std::string(*bytes)};
    }
  }
  return base::Status::InvalidArgument("Unrecognized load parameter '" + parameter.name +
                                       "' with type '" +
                                       TRITONSERVER_ParameterTypeString(parameter.type()) + "'");
}

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerModelIsReady(TRITONSERVER_Server* server,
                                                    const char* model_name, int64_t model_version,
                                                    bool* ready) {
  NEREID_CHECK_NOT_NULL(server, model_name, ready);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(*ready, service->IsModelReady(model_name, model_version));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelBatchProperties(TRITONSERVER_Server* server,
                                                            const char* model_name,
                                                            int64_t model_version, uint32_t* flags,
                                                            void** voidp) {
  NEREID_CHECK_NOT_NULL(server, model_name, flags);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(const api::ModelTraits traits,
                            service->FindModel(model_name, model_version));
    *flags = traits.max_batch_size > 0 ? TRITONSERVER_BATCH_FIRST_DIM : TRITONSERVER_BATCH_UNKNOWN;
    if (voidp != nullptr) *voidp = nullptr;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelTransactionProperties(TRITONSERVER_Server* server,
                                                                  const char* model_name,
                                                                  int64_t model_version,
                                                                  uint32_t* txn_flags,
                                                                  void** voidp) {
  NEREID_CHECK_NOT_NULL(server, model_name, txn_flags);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(const api::ModelTraits traits,
                            service->FindModel(model_name, model_version));
    *txn_flags = traits.decoupled ? TRITONSERVER_TXN_DECOUPLED : TRITONSERVER_TXN_ONE_TO_ONE;
    if (voidp != nullptr) *voidp = nullptr;
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerMetadata(TRITONSERVER_Server* server,
                                                TRITONSERVER_Message** server_metadata) {
  NEREID_CHECK_NOT_NULL(server, server_metadata);
  return abi::Guard([&]() -> base::Status {
    const auto service = ServiceOf(server);
    *server_metadata = new TRITONSERVER_Message(json::EncodeServerMetadata(
        service.ok() ? (*service)->GetServerMetadata() : server->metadata));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelMetadata(TRITONSERVER_Server* server,
                                                     const char* model_name, int64_t model_version,
                                                     TRITONSERVER_Message** model_metadata) {
  NEREID_CHECK_NOT_NULL(server, model_name, model_metadata);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(auto metadata, service->GetModelMetadata(model_name, model_version));
    *model_metadata = new TRITONSERVER_Message(json::EncodeModelMetadata(metadata));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelStatistics(TRITONSERVER_Server* server,
                                                       const char* model_name,
                                                       int64_t model_version,
                                                       TRITONSERVER_Message** model_stats) {
  NEREID_CHECK_NOT_NULL(server, model_name, model_stats);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(auto statistics,
                            service->GetModelStatistics(model_name, model_version));
    *model_stats = new TRITONSERVER_Message(json::EncodeModelStatistics(statistics));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelConfig(TRITONSERVER_Server* server,
                                                   const char* model_name, int64_t model_version,
                                                   uint32_t config_version,
                                                   TRITONSERVER_Message** model_config) {
  NEREID_CHECK_NOT_NULL(server, model_name, model_config);
  return abi::Guard([&]() -> base::Status {
    if (config_version != kConfigVersion) {
      return base::Status::InvalidArgument("model configuration version " +
                                           std::to_string(config_version) +
                                           " not supported, supported versions are: 1");
    }
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    NEREID_ASSIGN_OR_RETURN(auto config, service->GetModelConfig(model_name, model_version));
    *model_config = new TRITONSERVER_Message(json::EncodeModelConfig(*config));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerModelIndex(TRITONSERVER_Server* server, uint32_t flags,
                                                  TRITONSERVER_Message** model_index) {
  NEREID_CHECK_NOT_NULL(server, model_index);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    const bool ready_only = (flags & TRITONSERVER_INDEX_FLAG_READY) != 0;
    NEREID_ASSIGN_OR_RETURN(auto entries, service->GetRepositoryIndex(ready_only));
    *model_index = new TRITONSERVER_Message(json::EncodeRepositoryIndex(entries));
    return base::Status::Ok();
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerLoadModel(TRITONSERVER_Server* server,
                                                 const char* model_name) {
  return TRITONSERVER_ServerLoadModelWithParameters(server, model_name, nullptr, 0);
}

TRITONSERVER_Error* TRITONSERVER_ServerLoadModelWithParameters(
    TRITONSERVER_Server* server, const char* model_name, const TRITONSERVER_Parameter** parameters,
    uint64_t parameter_count) {
  NEREID_CHECK_NOT_NULL(server, model_name);
  if (parameter_count > 0) NEREID_CHECK_NOT_NULL(parameters);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    std::vector<api::LoadParameter> overrides;
    for (uint64_t i = 0; i < parameter_count; ++i) {
      if (parameters[i] == nullptr) {
        return base::Status::InvalidArgument("load parameter " + std::to_string(i) +
                                             " must not be NULL");
      }
      NEREID_ASSIGN_OR_RETURN(auto parameter, ReadLoadParameter(*parameters[i]));
      overrides.push_back(std::move(parameter));
    }
    return service->LoadModel(model_name, std::move(overrides), {});
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerUnloadModel(TRITONSERVER_Server* server,
                                                   const char* model_name) {
  NEREID_CHECK_NOT_NULL(server, model_name);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    return service->UnloadModel(model_name, /*unload_dependents=*/false);
  });
}

TRITONSERVER_Error* TRITONSERVER_ServerUnloadModelAndDependents(TRITONSERVER_Server* server,
                                                                const char* model_name) {
  NEREID_CHECK_NOT_NULL(server, model_name);
  return abi::Guard([&]() -> base::Status {
    NEREID_ASSIGN_OR_RETURN(auto* service, ServiceOf(server));
    return service->UnloadModel(model_name, /*unload_dependents=*/true);
  });
}

}  // extern "C"
