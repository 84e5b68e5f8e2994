// SPDX-License-Identifier: Apache-2.0
#include "app/tools/infer/grpc_inference.h"

#include <algorithm>
#include <optional>

#include "app/tools/infer/grpc_message.h"
#include "app/tools/remote/terminal_text.h"
#include "app/tools/tensors/nested_values.h"
#include "grpc_service.pb.h"
#include "tensor/bytes.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr char kService[] = "/inference.GRPCInferenceService/";
constexpr size_t kMaxOutputs = 10'000;

base::Result<std::vector<TensorSpec>> Specs(
    const google::protobuf::RepeatedPtrField<inference::ModelMetadataResponse::TensorMetadata>&
        tensors) {
  std::vector<TensorSpec> specs;
  for (const auto& tensor : tensors) {
    const auto type = tensor::DataTypeFromName(tensor.datatype());
    if (type == tensor::DataType::kInvalid || tensor.shape_size() > static_cast<int>(kMaxDims)) {
      return Status::Internal("the server's metadata of '" + TerminalText(tensor.name(), 100) +
                              "' cannot be read");
    }
    specs.push_back({tensor.name(), type, {tensor.shape().begin(), tensor.shape().end()}});
  }
  return specs;
}

inference::InferParameter Parameter(const ParameterValue& value) {
  inference::InferParameter parameter;
  if (const auto* truth = std::get_if<bool>(&value)) {
    parameter.set_bool_param(*truth);
  } else if (const auto* whole = std::get_if<int64_t>(&value)) {
    parameter.set_int64_param(*whole);
  } else if (const auto* number = std::get_if<double>(&value)) {
    parameter.set_double_param(*number);
  } else {
    parameter.set_string_param(std::get<std::string>(value));
  }
  return parameter;
}

inference::ModelInferRequest RequestOf(const InferCall& call) {
  inference::ModelInferRequest request;
  request.set_model_name(call.model);
  request.set_model_version(call.version);
  request.set_id(call.id);
  for (const auto& [name, value] : call.parameters) {
    (*request.mutable_parameters())[name] = Parameter(value);
  }
  for (const Tensor& input : call.inputs) {
    auto* const tensor = request.add_inputs();
    tensor->set_name(input.name);
    tensor->set_datatype(std::string(tensor::DataTypeName(input.type)));
    for (const int64_t dim : input.shape) tensor->add_shape(dim);
    request.add_raw_input_contents(input.bytes);
  }
  for (const std::string& name : call.outputs) {
    auto* const output = request.add_outputs();
    output->set_name(name);
    if (call.classes == 0) continue;
    (*output->mutable_parameters())["classification"].set_int64_param(
        static_cast<int64_t>(call.classes));
  }
  return request;
}

/// Returns the elements of an output that is not in raw_output_contents.
template <typename T, typename List>
std::string Packed(const List& list) {
  std::string bytes;
  for (const auto element : list) {
    const auto value = static_cast<T>(element);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

std::string TypedBytes(tensor::DataType type, const inference::InferTensorContents& contents) {
  using tensor::DataType;
  std::string texts;
  switch (type) {
    case DataType::kBool:
      return Packed<uint8_t>(contents.bool_contents());
    case DataType::kInt8:
      return Packed<int8_t>(contents.int_contents());
    case DataType::kInt16:
      return Packed<int16_t>(contents.int_contents());
    case DataType::kInt32:
      return Packed<int32_t>(contents.int_contents());
    case DataType::kInt64:
      return Packed<int64_t>(contents.int64_contents());
    case DataType::kUint8:
      return Packed<uint8_t>(contents.uint_contents());
    case DataType::kUint16:
      return Packed<uint16_t>(contents.uint_contents());
    case DataType::kUint32:
      return Packed<uint32_t>(contents.uint_contents());
    case DataType::kUint64:
      return Packed<uint64_t>(contents.uint64_contents());
    case DataType::kFp32:
      return Packed<float>(contents.fp32_contents());
    case DataType::kFp64:
      return Packed<double>(contents.fp64_contents());
    case DataType::kBytes:
      for (const std::string& text : contents.bytes_contents()) {
        tensor::AppendBytesElement(text, &texts);
      }
      return texts;
    default:
      return "";
  }
}

base::Result<InferReply> ReplyOf(inference::ModelInferResponse& response) {
  InferReply reply{response.model_name(), response.model_version(), response.id(), {}};
  const bool is_raw = response.raw_output_contents_size() > 0;
  if (response.outputs_size() > static_cast<int>(kMaxOutputs) ||
      (is_raw && response.raw_output_contents_size() != response.outputs_size())) {
    return Status::Internal("the server's response cannot be read: its outputs are not complete");
  }
  for (int i = 0; i < response.outputs_size(); ++i) {
    const auto& output = response.outputs(i);
    if (output.shape_size() > static_cast<int>(kMaxDims)) {
      return Status::Internal("the server's response cannot be read: a shape is too long");
    }
    Tensor tensor{output.name(),
                  tensor::DataTypeFromName(output.datatype()),
                  {output.shape().begin(), output.shape().end()},
                  ""};
    tensor.bytes = is_raw ? std::move(*response.mutable_raw_output_contents(i))
                          : TypedBytes(tensor.type, output.contents());
    NEREID_RETURN_IF_ERROR(CheckTensor(tensor));
    reply.outputs.push_back(std::move(tensor));
  }
  return reply;
}

DurationCounter DurationOf(const inference::StatisticDuration& duration) {
  return {duration.count(), duration.ns()};
}

ModelCounters CountersOf(const inference::ModelStatistics& statistics) {
  const inference::InferStatistics& stats = statistics.inference_stats();
  ModelCounters counters;
  counters.name = statistics.name();
  counters.version = statistics.version();
  counters.inferences = statistics.inference_count();
  counters.executions = statistics.execution_count();
  counters.success = DurationOf(stats.success());
  counters.fail = DurationOf(stats.fail());
  counters.queue = DurationOf(stats.queue());
  counters.compute_input = DurationOf(stats.compute_input());
  counters.compute_infer = DurationOf(stats.compute_infer());
  counters.compute_output = DurationOf(stats.compute_output());
  counters.cache_hit = DurationOf(stats.cache_hit());
  for (const auto& batch : statistics.batch_stats()) {
    counters.batches.push_back(
        {batch.batch_size(), batch.compute_infer().count(),
         batch.compute_input().ns() + batch.compute_infer().ns() + batch.compute_output().ns()});
  }
  for (const auto& usage : statistics.memory_usage()) {
    counters.memory_bytes += std::min(usage.byte_size(), UINT64_MAX - counters.memory_bytes);
  }
  return counters;
}

template <typename Message>
Status Parse(std::string_view bytes, Message* message) {
  if (message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
  return Status::Internal("a message of the server cannot be read");
}

}  // namespace

Status GrpcInference::Call(const std::string& path, const std::string& framed,
                           const std::function<Status(std::string_view)>& visit) {
  MessageFrames frames;
  curl::HttpReceiver receiver;
  receiver.body = [&](std::string_view piece) { return frames.Take(piece, visit); };
  RemoteServer::Call call{"POST", path, framed};
  call.fields = {{"Content-Type", "application/grpc"}, {"TE", "trailers"}};
  call.stall_secs = 0;
  const auto response = server_->Exchange(std::move(call), receiver);
  return response.ok() ? CallOutcome(*response) : response.status();
}

template <typename Reply, typename Request>
Status GrpcInference::CallOnce(const char* method, const Request& request, Reply* reply) {
  // libcurl 7.88 loses the answer of a server that refuses a call while it is being sent. These
  // calls change nothing, so they can be repeated.
  constexpr int kAttempts = 5;
  Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    status = Call(std::string(kService) + method, FramedMessage(request.SerializeAsString()),
                  [&](std::string_view message) { return Parse(message, reply); });
    if (status.ok() || status.code() != base::StatusCode::kInternal) break;
  }
  return status;
}

base::Result<ModelDescription> GrpcInference::Describe(const std::string& model,
                                                       const std::string& version) {
  inference::ModelMetadataRequest request;
  request.set_name(model);
  request.set_version(version);
  inference::ModelMetadataResponse metadata;
  NEREID_RETURN_IF_ERROR(CallOnce("ModelMetadata", request, &metadata));
  ModelDescription description;
  description.name = model;
  description.versions = {metadata.versions().begin(), metadata.versions().end()};
  NEREID_ASSIGN_OR_RETURN(description.inputs, Specs(metadata.inputs()));
  NEREID_ASSIGN_OR_RETURN(description.outputs, Specs(metadata.outputs()));
  inference::ModelConfigRequest config_request;
  config_request.set_name(model);
  config_request.set_version(version);
  inference::ModelConfigResponse config;
  // Not every server shows it to everyone.
  if (!CallOnce("ModelConfig", config_request, &config).ok()) return description;
  description.decoupled = config.config().model_transaction_policy().decoupled();
  for (const auto& input : config.config().input()) {
    if (input.optional()) description.optional_inputs.push_back(input.name());
  }
  return description;
}

base::Result<EncodedCall> GrpcInference::Encode(const InferCall& call,
                                                const ModelDescription& model) const {
  const std::string message = RequestOf(call).SerializeAsString();
  if (message.empty() || message.size() > INT32_MAX) {
    return Status::InvalidArgument("the request is larger than the 2 GiB of a gRPC message");
  }
  return EncodedCall{std::string(kService) + (model.decoupled ? "ModelStreamInfer" : "ModelInfer"),
                     FramedMessage(message), 0};
}

base::Result<InferReply> GrpcInference::Infer(const EncodedCall& call) {
  std::optional<InferReply> reply;
  NEREID_RETURN_IF_ERROR(Call(call.path, call.body, [&](std::string_view message) -> Status {
    inference::ModelInferResponse response;
    NEREID_RETURN_IF_ERROR(Parse(message, &response));
    NEREID_ASSIGN_OR_RETURN(reply, ReplyOf(response));
    return {};
  }));
  if (!reply) return Status::Internal("the server's answer has no message");
  return std::move(*reply);
}

Status GrpcInference::Stream(const EncodedCall& call, const ModelDescription& /*model*/,
                             const std::function<bool(InferReply)>& receive) {
  bool stopped = false;
  const Status status = Call(call.path, call.body, [&](std::string_view message) -> Status {
    inference::ModelStreamInferResponse response;
    NEREID_RETURN_IF_ERROR(Parse(message, &response));
    if (!response.error_message().empty()) {
      return Status::Unavailable("the server answered: " + TerminalText(response.error_message()));
    }
    NEREID_ASSIGN_OR_RETURN(InferReply reply, ReplyOf(*response.mutable_infer_response()));
    stopped = !receive(std::move(reply));
    return stopped ? Status::Cancelled("stopped") : Status();
  });
  return stopped ? Status() : status;
}

base::Result<std::vector<ModelCounters>> GrpcInference::Statistics(const std::string& model) {
  inference::ModelStatisticsRequest request;
  request.set_name(model);
  inference::ModelStatisticsResponse response;
  NEREID_RETURN_IF_ERROR(CallOnce("ModelStatistics", request, &response));
  std::vector<ModelCounters> counters;
  for (const auto& statistics : response.model_stats()) {
    counters.push_back(CountersOf(statistics));
  }
  return counters;
}

}  // namespace nereid::app::tools
