// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/unary_methods.h"

#include <google/protobuf/arena.h>

#include <type_traits>
#include <utility>

#include "codec/proto/log_settings.h"
#include "codec/proto/model_config.h"
#include "codec/proto/model_load.h"
#include "codec/proto/model_metadata.h"
#include "codec/proto/model_statistics.h"
#include "codec/proto/model_unload.h"
#include "codec/proto/repository_index.h"
#include "codec/proto/server_metadata.h"
#include "codec/proto/shared_memory.h"
#include "codec/proto/trace_settings.h"
#include "codec/proto/valid_text.h"
#include "frontend/grpc/message_frame.h"
#include "grpc_service.pb.h"
#include "health.pb.h"

namespace nereid::frontend::grpc {
namespace {

using api::InferenceService;
using base::Status;
namespace proto = codec::proto;

// Whether a message changes something; only of methods with UnaryMethod::change.
bool ChangesSettings(const inference::LogSettingsRequest& request) {
  return request.settings_size() != 0;
}
bool ChangesSettings(const inference::TraceSettingRequest& request) {
  return request.settings_size() != 0;
}

// Decodes the request, calls `Handle` and encodes the reply.
template <typename Request, typename Reply, auto Handle>
CallStatus Run(ServerContext& context, const UnaryRequest& received,
               codec::proto::EncodedMessage* encoded) {
  const std::string_view bytes = received.message;
  google::protobuf::Arena arena;
  auto* const request = google::protobuf::Arena::CreateMessage<Request>(&arena);
  if (!request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return {kGrpcInternal, "failed to parse the " + Request::descriptor()->name() + " message"};
  }
  if constexpr (requires { ChangesSettings(*request); }) {
    if (context.options.gate != nullptr && ChangesSettings(*request)) {
      const api::AccessRefusal refusal =
          context.options.gate->Check(*received.method.change, received.roles);
      if (refusal.refused()) return CallStatus::From(refusal);
    }
  }
  auto* const reply = google::protobuf::Arena::CreateMessage<Reply>(&arena);
  Status status;
  if constexpr (std::is_invocable_v<decltype(Handle), InferenceService&, const Request&,
                                    const request::Cancellation&, Reply*>) {
    status = Handle(context.service, *request, received.client, reply);
  } else {
    status = Handle(context.service, *request, reply);
  }
  if (!status.ok()) return CallStatus::From(status);
  proto::ReplaceInvalidText(reply);
  const size_t size = reply->ByteSizeLong();
  if (size > codec::proto::kMaxMessageSize) {
    return {kGrpcResourceExhausted, "the reply is larger than a message may be"};
  }
  *encoded = FrameMessage(reply->SerializeAsString());
  return {};
}

Status ServerLive(InferenceService& service, const inference::ServerLiveRequest&,
                  inference::ServerLiveResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const bool live, service.IsServerLive());
  reply->set_live(live);
  return Status::Ok();
}

Status ServerReady(InferenceService& service, const inference::ServerReadyRequest&,
                   inference::ServerReadyResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const bool ready, service.IsServerReady());
  reply->set_ready(ready);
  return Status::Ok();
}

Status ModelReady(InferenceService& service, const inference::ModelReadyRequest& request,
                  inference::ModelReadyResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service.ResolveVersion(request.name(), request.version()));
  NEREID_ASSIGN_OR_RETURN(const bool ready, service.IsModelReady(request.name(), version));
  reply->set_ready(ready);
  return Status::Ok();
}

Status ServerMetadata(InferenceService& service, const inference::ServerMetadataRequest&,
                      inference::ServerMetadataResponse* reply) {
  proto::EncodeServerMetadata(service.GetServerMetadata(), reply);
  return Status::Ok();
}

Status ModelMetadata(InferenceService& service, const inference::ModelMetadataRequest& request,
                     inference::ModelMetadataResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service.ResolveVersion(request.name(), request.version()));
  NEREID_ASSIGN_OR_RETURN(const api::ModelMetadata metadata,
                          service.GetModelMetadata(request.name(), version));
  proto::EncodeModelMetadata(metadata, reply);
  return Status::Ok();
}

Status ModelConfig(InferenceService& service, const inference::ModelConfigRequest& request,
                   inference::ModelConfigResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service.ResolveVersion(request.name(), request.version()));
  NEREID_ASSIGN_OR_RETURN(const auto config, service.GetModelConfig(request.name(), version));
  proto::EncodeModelConfig(*config, reply);
  return Status::Ok();
}

Status ModelStatistics(InferenceService& service, const inference::ModelStatisticsRequest& request,
                       inference::ModelStatisticsResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version,
                          service.ResolveVersion(request.name(), request.version()));
  NEREID_ASSIGN_OR_RETURN(const auto statistics,
                          service.GetModelStatistics(request.name(), version));
  proto::EncodeModelStatistics(statistics, reply);
  return Status::Ok();
}

Status RepositoryIndex(InferenceService& service, const inference::RepositoryIndexRequest& request,
                       inference::RepositoryIndexResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const bool ready, proto::DecodeRepositoryIndexRequest(request));
  NEREID_ASSIGN_OR_RETURN(const auto entries, service.GetRepositoryIndex(ready));
  proto::EncodeRepositoryIndex(entries, reply);
  return Status::Ok();
}

Status RepositoryModelLoad(InferenceService& service,
                           const inference::RepositoryModelLoadRequest& request,
                           const request::Cancellation& client,
                           inference::RepositoryModelLoadResponse*) {
  NEREID_ASSIGN_OR_RETURN(auto parameters, proto::DecodeModelLoadRequest(request));
  return service.LoadModel(request.model_name(), std::move(parameters),
                           [&client] { return client.IsCancelled(); });
}

Status RepositoryModelUnload(InferenceService& service,
                             const inference::RepositoryModelUnloadRequest& request,
                             inference::RepositoryModelUnloadResponse*) {
  NEREID_ASSIGN_OR_RETURN(const bool dependents, proto::DecodeModelUnloadRequest(request));
  return service.UnloadModel(request.model_name(), dependents);
}

Status LogSettings(InferenceService& service, const inference::LogSettingsRequest& request,
                   inference::LogSettingsResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const api::LogChanges changes, proto::DecodeLogChanges(request));
  proto::EncodeLogSettings(service.UpdateLogSettings(changes), reply);
  return Status::Ok();
}

Status TraceSetting(InferenceService& service, const inference::TraceSettingRequest& request,
                    inference::TraceSettingResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const api::TraceSettings settings,
                          service.UpdateTraceSettings(request.model_name(), [&] {
                            return proto::DecodeTraceChanges(request);
                          }));
  proto::EncodeTraceSettings(settings, reply);
  return Status::Ok();
}

Status SystemSharedMemoryStatus(InferenceService& service,
                                const inference::SystemSharedMemoryStatusRequest& request,
                                inference::SystemSharedMemoryStatusResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const auto regions, service.shared_memory().ListSystem(request.name()));
  proto::EncodeSystemRegions(regions, reply);
  return Status::Ok();
}

Status SystemSharedMemoryRegister(InferenceService& service,
                                  const inference::SystemSharedMemoryRegisterRequest& request,
                                  inference::SystemSharedMemoryRegisterResponse*) {
  return service.shared_memory().RegisterSystem(proto::DecodeSystemRegion(request));
}

Status SystemSharedMemoryUnregister(InferenceService& service,
                                    const inference::SystemSharedMemoryUnregisterRequest& request,
                                    inference::SystemSharedMemoryUnregisterResponse*) {
  return service.shared_memory().Unregister(api::SharedMemoryKind::kSystem, request.name());
}

Status CudaSharedMemoryStatus(InferenceService& service,
                              const inference::CudaSharedMemoryStatusRequest& request,
                              inference::CudaSharedMemoryStatusResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const auto regions, service.shared_memory().ListCuda(request.name()));
  proto::EncodeCudaRegions(regions, reply);
  return Status::Ok();
}

Status CudaSharedMemoryRegister(InferenceService& service,
                                const inference::CudaSharedMemoryRegisterRequest& request,
                                inference::CudaSharedMemoryRegisterResponse*) {
  return service.shared_memory().RegisterCuda(proto::DecodeCudaRegion(request));
}

Status CudaSharedMemoryUnregister(InferenceService& service,
                                  const inference::CudaSharedMemoryUnregisterRequest& request,
                                  inference::CudaSharedMemoryUnregisterResponse*) {
  return service.shared_memory().Unregister(api::SharedMemoryKind::kCuda, request.name());
}

Status HealthCheck(InferenceService& service, const ::grpc::health::v1::HealthCheckRequest&,
                   ::grpc::health::v1::HealthCheckResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const bool ready, service.IsServerReady());
  reply->set_status(ready ? ::grpc::health::v1::HealthCheckResponse::SERVING
                          : ::grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  return Status::Ok();
}

#define NEREID_METHOD(name, operation, ...)                                                        \
  {                                                                                                \
    "/inference.GRPCInferenceService/" #name, operation,                                           \
        &Run<inference::name##Request, inference::name##Response, name> __VA_OPT__(, ) __VA_ARGS__ \
  }

using api::Operation;

constexpr UnaryMethod kMethods[] = {
    NEREID_METHOD(ServerLive, Operation::kServerLive),
    NEREID_METHOD(ServerReady, Operation::kServerReady),
    NEREID_METHOD(ModelReady, Operation::kModelReady),
    NEREID_METHOD(ServerMetadata, Operation::kServerMetadata),
    NEREID_METHOD(ModelMetadata, Operation::kModelMetadata),
    NEREID_METHOD(ModelConfig, Operation::kModelConfig),
    NEREID_METHOD(ModelStatistics, Operation::kStatistics),
    NEREID_METHOD(RepositoryIndex, Operation::kRepositoryIndex),
    NEREID_METHOD(LogSettings, Operation::kLogRead, Operation::kLogChange),
    NEREID_METHOD(TraceSetting, Operation::kTraceRead, Operation::kTraceChange),
    NEREID_METHOD(SystemSharedMemoryStatus, Operation::kSharedMemoryStatus),
    NEREID_METHOD(SystemSharedMemoryRegister, Operation::kSharedMemoryRegister),
    NEREID_METHOD(SystemSharedMemoryUnregister, Operation::kSharedMemoryUnregister),
    NEREID_METHOD(CudaSharedMemoryStatus, Operation::kSharedMemoryStatus),
    NEREID_METHOD(CudaSharedMemoryRegister, Operation::kSharedMemoryRegister),
    NEREID_METHOD(CudaSharedMemoryUnregister, Operation::kSharedMemoryUnregister),
    NEREID_METHOD(RepositoryModelLoad, Operation::kModelLoad),
    NEREID_METHOD(RepositoryModelUnload, Operation::kModelUnload),
    {"/grpc.health.v1.Health/Check", Operation::kServerReady,
     &Run<::grpc::health::v1::HealthCheckRequest, ::grpc::health::v1::HealthCheckResponse,
          HealthCheck>},
};

consteval bool ChangesCostTheSame() {
  for (const UnaryMethod& method : kMethods) {
    if (method.change && api::FactsOf(*method.change).cost != api::FactsOf(method.operation).cost) {
      return false;
    }
  }
  return true;
}
static_assert(ChangesCostTheSame(), "the threads are chosen before the message is read");

#undef NEREID_METHOD

}  // namespace

std::span<const UnaryMethod> AllUnaryMethods() { return kMethods; }

const UnaryMethod* FindUnaryMethod(std::string_view path) {
  for (const UnaryMethod& method : kMethods) {
    if (method.path == path) return &method;
  }
  return nullptr;
}

}  // namespace nereid::frontend::grpc
