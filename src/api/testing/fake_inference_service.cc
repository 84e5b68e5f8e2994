// SPDX-License-Identifier: Apache-2.0
#include "api/testing/fake_inference_service.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/byte_budget.h"
#include "request/binding.h"
#include "request/inference_response.h"
#include "request/response_factory.h"
#include "request/response_sink.h"

namespace nereid::api::testing {
namespace {

using request::InferenceRequest;
using request::InferenceResponse;

base::Status UnknownModel(const std::string& name, int64_t version) {
  std::string text = "Request for unknown model: '" + name + "'";
  if (version >= 0) text += " version " + std::to_string(version);
  return base::Status::NotFound(text + " is not found");
}

base::Status CheckMayAskPlugins() {
  if (base::ThreadMayBlock()) return base::Status::Ok();
  return base::Status::Internal("a plug-in is asked on an event loop");
}

void Release(std::unique_ptr<InferenceRequest> request) {
  std::shared_ptr<request::ResponseSink> sink = request->sink();
  sink->RequestReleased(std::move(request));
}

base::Status EchoInput(const request::Input& input, bool is_raw, InferenceResponse* response) {
  const uint64_t size = input.ByteSize();
  auto output =
      response->AddOutput(FakeInferenceService::EchoOutputName(is_raw ? "INPUT0" : input.name),
                          is_raw ? tensor::DataType::kUint8 : input.type,
                          is_raw ? tensor::Shape{static_cast<int64_t>(size)} : input.shape);
  if (!output.ok()) return output.status();
  memory::MemoryType type = memory::MemoryType::kCpu;
  int64_t id = 0;
  NEREID_RETURN_IF_ERROR(response->AllocateOutput(*output, size, &type, &id));
  char* to = (*output)->data;
  if (to == nullptr && size != 0) return base::Status::Internal("the output got no buffer");
  for (const request::InputPiece& piece : input.pieces) {
    if (piece.size != 0) std::memcpy(to, piece.data, piece.size);
    to += piece.size;
  }
  return base::Status::Ok();
}

}  // namespace

FakeInferenceService::FakeInferenceService() : handler(&FakeInferenceService::Echo) {
  server_metadata = {"triton", "2.51.0", {"classification", "binary_tensor_data", "statistics"}};
  ModelMetadata echo;
  echo.name = "echo";
  echo.versions = {"1", "2"};
  echo.platform = "identity";
  echo.inputs = {{"INPUT0", "FP32", {-1}}};
  echo.outputs = {{"OUTPUT0", "FP32", {-1}}};
  models["echo"] = echo;
  echo.name = "decoupled";
  echo.versions = {"1"};
  models["decoupled"] = echo;
  traits["decoupled"].decoupled = true;
  index = {
      {"echo", "1", "READY", ""}, {"old", "3", "UNAVAILABLE", "unloaded"}, {"never", "", "", ""}};
  ModelStatistics echo_statistics;
  echo_statistics.name = "echo";
  echo_statistics.version = "1";
  statistics = {echo_statistics};
}

base::Result<bool> FakeInferenceService::IsServerReady() {
  NEREID_RETURN_IF_ERROR(CheckMayAskPlugins());
  return ready;
}

base::Result<bool> FakeInferenceService::IsModelReady(const std::string& name, int64_t version) {
  NEREID_RETURN_IF_ERROR(CheckMayAskPlugins());
  return FindModel(name, version).ok();
}

base::Result<ModelMetadata> FakeInferenceService::GetModelMetadata(const std::string& name,
                                                                   int64_t version) {
  auto traits_of_model = FindModel(name, version);
  if (!traits_of_model.ok()) return traits_of_model.status();
  ModelMetadata metadata = models.at(name);
  if (version >= 0) metadata.versions = {std::to_string(version)};
  return metadata;
}

base::Result<std::shared_ptr<const config::ModelConfig>> FakeInferenceService::GetModelConfig(
    const std::string& name, int64_t version) {
  auto traits_of_model = FindModel(name, version);
  if (!traits_of_model.ok()) return traits_of_model.status();
  if (model_config == nullptr) return base::Status::Unavailable("the fake has no model_config");
  return model_config;
}

base::Result<std::vector<ModelStatistics>> FakeInferenceService::GetModelStatistics(
    const std::string& name, int64_t version) {
  if (name.empty()) return statistics;
  std::vector<ModelStatistics> found;
  for (const ModelStatistics& entry : statistics) {
    if (entry.name != name) continue;
    if (version >= 0 && entry.version != std::to_string(version)) continue;
    found.push_back(entry);
  }
  if (found.empty()) {
    return base::Status::InvalidArgument("requested model '" + name + "' is not available");
  }
  return found;
}

base::Result<std::vector<RepositoryIndexEntry>> FakeInferenceService::GetRepositoryIndex(
    bool ready_only) {
  if (on_index) on_index();
  std::vector<RepositoryIndexEntry> entries;
  for (const RepositoryIndexEntry& entry : index) {
    if (!ready_only || entry.state == "READY") entries.push_back(entry);
  }
  return entries;
}

base::Status FakeInferenceService::LoadModel(const std::string& name,
                                             std::vector<LoadParameter> parameters,
                                             const std::function<bool()>& /*is_abandoned*/) {
  if (on_load) on_load(name, parameters);
  return load_result;
}

base::Status FakeInferenceService::UnloadModel(const std::string& name, bool unload_dependents) {
  if (on_unload) on_unload(name, unload_dependents);
  return unload_result;
}

base::Result<ModelTraits> FakeInferenceService::FindModel(const std::string& name,
                                                          int64_t version) {
  const auto model = models.find(name);
  if (model == models.end()) return UnknownModel(name, -1);
  const std::vector<std::string>& versions = model->second.versions;
  if (version >= 0 &&
      std::find(versions.begin(), versions.end(), std::to_string(version)) == versions.end()) {
    return UnknownModel(name, version);
  }
  const auto found = traits.find(name);
  return found == traits.end() ? ModelTraits{} : found->second;
}

base::Status FakeInferenceService::Infer(std::unique_ptr<InferenceRequest>& request) {
  if (!infer_refusal.ok()) return infer_refusal;
  auto traits_of_model = FindModel(request->model_name, request->model_version);
  if (!traits_of_model.ok()) return traits_of_model.status();
  auto identity = std::make_shared<request::ModelIdentity>();
  identity->name = request->model_name;
  identity->version = request->model_version < 0 ? 1 : request->model_version;
  identity->version_text = std::to_string(identity->version);
  identity->config = model_config;
  identity->labels = labels;
  if (request->shared_tensors != nullptr) {
    NEREID_RETURN_IF_ERROR(shared_memory().Attach(*request));
    NEREID_RETURN_IF_ERROR(OwnStrings(*request));
  }
  request::BindRequest(*request, std::move(identity));
  handler(std::move(request));
  return base::Status::Ok();
}

void FakeInferenceService::Echo(std::unique_ptr<InferenceRequest> request) {
  std::shared_ptr<request::ResponseFactory> factory = request->response_factory();
  auto made = factory->NewResponse();
  if (!made.ok()) return Fail(std::move(request), made.status());
  std::unique_ptr<InferenceResponse> response = std::move(made).value();
  for (const request::Input& input : request->inputs()) {
    base::Status status = EchoInput(input, request->inputs().is_raw(), response.get());
    if (!status.ok()) return Fail(std::move(request), status);
  }
  factory->Send(std::move(response), /*final=*/true);
  Release(std::move(request));
}

void FakeInferenceService::Fail(std::unique_ptr<InferenceRequest> request, base::Status error) {
  request->response_factory()->SendError(std::move(error));
  Release(std::move(request));
}

void FakeInferenceService::AnswerNothing(std::unique_ptr<InferenceRequest> request) {
  request->response_factory()->SendFinal();
  Release(std::move(request));
}

std::string FakeInferenceService::EchoOutputName(const std::string& input_name) {
  if (input_name.rfind("INPUT", 0) == 0) return "OUTPUT" + input_name.substr(5);
  if (input_name.rfind("IN", 0) == 0) return "OUT" + input_name.substr(2);
  return input_name;
}

FakeInferenceService::Handler FakeInferenceService::HoldHandler() {
  return [this](std::unique_ptr<InferenceRequest> request) {
    base::MutexLock lock(mutex_);
    held_.push_back(std::move(request));
    held_changed_.NotifyOne();
  };
}

std::unique_ptr<InferenceRequest> FakeInferenceService::TakeHeld() {
  base::MutexLock lock(mutex_);
  while (held_.empty()) held_changed_.Wait(lock);
  std::unique_ptr<InferenceRequest> request = std::move(held_.front());
  held_.erase(held_.begin());
  return request;
}

}  // namespace nereid::api::testing
