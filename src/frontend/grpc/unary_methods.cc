// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/unary_methods.h"

#include <google/protobuf/arena.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/log_settings.h"
#include "api/trace_settings.h"
#include "api/unsupported.h"
#include "api/version_text.h"
#include "base/utf8.h"
#include "frontend/grpc/call.h"
#include "frontend/grpc/statistics_message.h"
#include "grpc_service.pb.h"
#include "health.pb.h"
#include "tracing/settings_request.h"

namespace nereid::frontend::grpc {
namespace {

using api::InferenceService;
using base::Status;

// Decodes, calls and encodes: what all methods share.
template <typename Request, typename Reply, auto Handle>
CallStatus Run(ServerContext& context, const UnaryRequest& received,
               codec::proto::EncodedMessage* encoded) {
  const std::string_view bytes = received.message;
  google::protobuf::Arena arena;
  auto* const request = google::protobuf::Arena::CreateMessage<Request>(&arena);
  if (!request->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return {kGrpcInternal, "failed to parse the " + Request::descriptor()->name() + " message"};
  }
  auto* const reply = google::protobuf::Arena::CreateMessage<Reply>(&arena);
  Status status;
  if constexpr (std::is_invocable_v<decltype(Handle), ServerContext&, const Request&, Reply*>) {
    status = Handle(context, *request, reply);
  } else if constexpr (std::is_invocable_v<decltype(Handle), InferenceService&, const Request&,
                                           const request::Cancellation&, Reply*>) {
    status = Handle(context.service, *request, received.client, reply);
  } else {
    status = Handle(context.service, *request, reply);
  }
  if (!status.ok()) return CallStatus::From(status);
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
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(request.version()));
  NEREID_ASSIGN_OR_RETURN(const bool ready, service.IsModelReady(request.name(), version));
  reply->set_ready(ready);
  return Status::Ok();
}

Status ServerMetadata(InferenceService& service, const inference::ServerMetadataRequest&,
                      inference::ServerMetadataResponse* reply) {
  const api::ServerMetadata metadata = service.GetServerMetadata();
  reply->set_name(metadata.name);
  reply->set_version(metadata.version);
  for (const std::string& extension : metadata.extensions) reply->add_extensions(extension);
  return Status::Ok();
}

void SetTensor(const api::TensorMetadata& from,
               inference::ModelMetadataResponse::TensorMetadata* to) {
  to->set_name(from.name);
  to->set_datatype(from.datatype);
  for (const int64_t dim : from.shape) to->add_shape(dim);
}

Status ModelMetadata(InferenceService& service, const inference::ModelMetadataRequest& request,
                     inference::ModelMetadataResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(request.version()));
  NEREID_ASSIGN_OR_RETURN(const api::ModelMetadata metadata,
                          service.GetModelMetadata(request.name(), version));
  reply->set_name(metadata.name);
  for (const std::string& text : metadata.versions) reply->add_versions(text);
  reply->set_platform(metadata.platform);
  for (const auto& tensor : metadata.inputs) SetTensor(tensor, reply->add_inputs());
  for (const auto& tensor : metadata.outputs) SetTensor(tensor, reply->add_outputs());
  return Status::Ok();
}

Status ModelConfig(InferenceService& service, const inference::ModelConfigRequest& request,
                   inference::ModelConfigResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(request.version()));
  NEREID_ASSIGN_OR_RETURN(const auto config, service.GetModelConfig(request.name(), version));
  *reply->mutable_config() = config->proto();
  return Status::Ok();
}

Status ModelStatistics(InferenceService& service, const inference::ModelStatisticsRequest& request,
                       inference::ModelStatisticsResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const int64_t version, api::ParseVersionText(request.version()));
  NEREID_ASSIGN_OR_RETURN(const auto models, service.GetModelStatistics(request.name(), version));
  for (const api::ModelStatistics& model : models) SetStatistics(model, reply->add_model_stats());
  return Status::Ok();
}

Status RepositoryIndex(InferenceService& service, const inference::RepositoryIndexRequest& request,
                       inference::RepositoryIndexResponse* reply) {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(request.repository_name()));
  NEREID_ASSIGN_OR_RETURN(const auto entries, service.GetRepositoryIndex(request.ready()));
  for (const api::RepositoryIndexEntry& entry : entries) {
    auto* const model = reply->add_models();
    model->set_name(entry.name);
    model->set_version(entry.version);
    model->set_state(entry.state);
    model->set_reason(base::ReplaceInvalidUtf8(entry.reason));
  }
  return Status::Ok();
}

Status LoadParameterFrom(const std::string& key, const inference::ModelRepositoryParameter& value,
                         std::vector<api::LoadParameter>* parameters) {
  const auto wrong_kind = [&key](const char* expected) {
    return Status::InvalidArgument("invalid value type for load parameter '" + key +
                                   "', expected " + expected + ".");
  };
  if (key == "config") {
    if (!value.has_string_param()) return wrong_kind("string_param");
    parameters->push_back({key, value.string_param()});
  } else if (key.starts_with("file:")) {
    if (!value.has_bytes_param()) return wrong_kind("bytes_param");
    parameters->push_back({key, value.bytes_param()});
  } else {
    return Status::InvalidArgument("unrecognized load parameter '" + key + "'.");
  }
  return Status::Ok();
}

Status RepositoryModelLoad(InferenceService& service,
                           const inference::RepositoryModelLoadRequest& request,
                           const request::Cancellation& client,
                           inference::RepositoryModelLoadResponse*) {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(request.repository_name()));
  std::vector<api::LoadParameter> parameters;
  for (const auto& [key, value] : request.parameters()) {
    NEREID_RETURN_IF_ERROR(LoadParameterFrom(key, value, &parameters));
  }
  return service.LoadModel(request.model_name(), std::move(parameters),
                           [&client] { return client.IsCancelled(); });
}

Status RepositoryModelUnload(InferenceService& service,
                             const inference::RepositoryModelUnloadRequest& request,
                             inference::RepositoryModelUnloadResponse*) {
  NEREID_RETURN_IF_ERROR(api::CheckRepositoryName(request.repository_name()));
  bool unload_dependents = false;
  for (const auto& [key, value] : request.parameters()) {
    if (key != "unload_dependents") continue;
    if (!value.has_bool_param()) {
      return Status::InvalidArgument(
          "invalid value type for 'unload_dependents' parameter, expected bool_param.");
    }
    unload_dependents = value.bool_param();
  }
  return service.UnloadModel(request.model_name(), unload_dependents);
}

Status ReadLogSetting(const std::string& key,
                      const inference::LogSettingsRequest::SettingValue& value,
                      api::LogChanges* changes) {
  if (key == "log_file") return api::LogFileIsFixed();
  if (key == "log_verbose_level") {
    if (!value.has_uint32_param()) {
      return Status::InvalidArgument("expect int32 for 'log_verbose_level'");
    }
    changes->verbose_level = value.uint32_param();
    return Status::Ok();
  }
  if (key == "log_format") {
    if (!value.has_string_param()) return Status::InvalidArgument("expect string for 'log_format'");
    changes->format = api::FindLogFormat(value.string_param());
    if (changes->format) return Status::Ok();
    return Status::InvalidArgument("invalid argument for log_format, got: " + value.string_param());
  }
  std::optional<bool>* const level = key == "log_info"      ? &changes->info
                                     : key == "log_warning" ? &changes->warning
                                     : key == "log_error"   ? &changes->error
                                                            : nullptr;
  if (level == nullptr) return Status::Ok();
  if (!value.has_bool_param()) return Status::InvalidArgument("expect boolean for '" + key + "'");
  *level = value.bool_param();
  return Status::Ok();
}

Status LogSettings(InferenceService&, const inference::LogSettingsRequest& request,
                   inference::LogSettingsResponse* reply) {
  api::LogChanges changes;
  for (const auto& [key, value] : request.settings()) {
    NEREID_RETURN_IF_ERROR(ReadLogSetting(key, value, &changes));
  }
  api::ChangeLogSettings(changes);
  const api::LogSettings now = api::GetLogSettings();
  auto& settings = *reply->mutable_settings();
  settings["log_file"].set_string_param(now.file);
  settings["log_info"].set_bool_param(now.info);
  settings["log_warning"].set_bool_param(now.warning);
  settings["log_error"].set_bool_param(now.error);
  settings["log_verbose_level"].set_uint32_param(now.verbose_level);
  settings["log_format"].set_string_param(std::string(api::LogFormatName(now.format)));
  return Status::Ok();
}

Status ReadTraceSetting(const std::string& key,
                        const inference::TraceSettingRequest::SettingValue& value,
                        api::TraceChanges* changes) {
  if (key == "trace_file") return api::TraceFileIsFixed();
  const bool is_level = key == "trace_level";
  if (!is_level && key != "trace_rate" && key != "trace_count" && key != "log_frequency") return {};
  if (is_level && value.value().empty()) {
    changes->level = std::optional<uint32_t>();
    return {};
  }
  if (is_level) {
    return changes->SetLevel(std::vector<std::string>(value.value().begin(), value.value().end()));
  }
  if (value.value().empty()) return changes->SetNumber(key, std::nullopt);
  if (value.value_size() != 1) {
    return Status::InvalidArgument("expect only 1 value for '" + key + "'");
  }
  return changes->SetNumber(key, value.value(0));
}

base::Result<std::optional<api::TraceChanges>> ReadTraceChanges(
    const inference::TraceSettingRequest& request) {
  std::optional<api::TraceChanges> changes;
  for (const auto& [key, value] : request.settings()) {
    if (!changes) changes.emplace();
    NEREID_RETURN_IF_ERROR(ReadTraceSetting(key, value, &*changes));
  }
  return changes;
}

Status TraceSetting(ServerContext& context, const inference::TraceSettingRequest& request,
                    inference::TraceSettingResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(
      const api::TraceSettings now,
      tracing::AnswerSettingsRequest(context.options.tracer, context.service, request.model_name(),
                                     [&] { return ReadTraceChanges(request); }));
  auto& settings = *reply->mutable_settings();
  for (const std::string_view name : api::TraceLevelNames(now.level)) {
    settings["trace_level"].add_value(std::string(name));
  }
  settings["trace_rate"].add_value(std::to_string(now.rate));
  settings["trace_count"].add_value(std::to_string(now.count));
  settings["log_frequency"].add_value(std::to_string(now.log_frequency));
  settings["trace_file"].add_value(now.file);
  settings["trace_mode"].add_value("triton");
  return Status::Ok();
}

Status HealthCheck(InferenceService& service, const ::grpc::health::v1::HealthCheckRequest&,
                   ::grpc::health::v1::HealthCheckResponse* reply) {
  NEREID_ASSIGN_OR_RETURN(const bool ready, service.IsServerReady());
  reply->set_status(ready ? ::grpc::health::v1::HealthCheckResponse::SERVING
                          : ::grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  return Status::Ok();
}

#define NEREID_METHOD(name, ...)                                                                   \
  {                                                                                                \
    "/inference.GRPCInferenceService/" #name,                                                      \
        &Run<inference::name##Request, inference::name##Response, name> __VA_OPT__(, ) __VA_ARGS__ \
  }

constexpr UnaryMethod kMethods[] = {
    NEREID_METHOD(ServerLive),
    NEREID_METHOD(ServerReady),
    NEREID_METHOD(ModelReady),
    NEREID_METHOD(ServerMetadata),
    NEREID_METHOD(ModelMetadata),
    // As long as a configuration is, or as many models as there are.
    NEREID_METHOD(ModelConfig, &ServerContext::queries),
    NEREID_METHOD(ModelStatistics, &ServerContext::queries),
    NEREID_METHOD(RepositoryIndex, &ServerContext::queries),
    NEREID_METHOD(LogSettings),
    NEREID_METHOD(TraceSetting),
    NEREID_METHOD(RepositoryModelLoad, &ServerContext::workers),
    NEREID_METHOD(RepositoryModelUnload, &ServerContext::workers),
    {"/grpc.health.v1.Health/Check", &Run<::grpc::health::v1::HealthCheckRequest,
                                          ::grpc::health::v1::HealthCheckResponse, HealthCheck>},
};

#undef NEREID_METHOD

}  // namespace

const UnaryMethod* FindUnaryMethod(std::string_view path) {
  for (const UnaryMethod& method : kMethods) {
    if (method.path == path) return &method;
  }
  return nullptr;
}

}  // namespace nereid::frontend::grpc
