// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/inference_service.h"
#include "base/mutex.h"

namespace nereid::api::testing {

/// A service for the tests of front ends. Knows the model "echo" (versions "1" and "2"), which
/// answers each input with an output of the same bytes (see EchoOutputName), and the model
/// "decoupled". Everything that a test may change is a public member: change it before requests
/// arrive. Thread-safe after that.
class FakeInferenceService : public InferenceService {
 public:
  /// What happens to an accepted, bound request. The default is Echo().
  using Handler = std::function<void(std::unique_ptr<request::InferenceRequest>)>;

  FakeInferenceService();

  base::Result<bool> IsServerLive() override { return live; }
  /// As IsModelReady(), an error on an event loop, where the server must not ask plug-ins.
  base::Result<bool> IsServerReady() override;
  base::Result<bool> IsModelReady(const std::string& name, int64_t version) override;
  ServerMetadata GetServerMetadata() override { return server_metadata; }
  base::Result<ModelMetadata> GetModelMetadata(const std::string& name, int64_t version) override;
  base::Result<std::shared_ptr<const config::ModelConfig>> GetModelConfig(const std::string& name,
                                                                          int64_t version) override;
  base::Result<std::vector<ModelStatistics>> GetModelStatistics(const std::string& name,
                                                                int64_t version) override;
  base::Result<std::vector<RepositoryIndexEntry>> GetRepositoryIndex(bool ready_only) override;
  base::Status LoadModel(const std::string& name, std::vector<LoadParameter> parameters,
                         const std::function<bool()>& is_abandoned) override;
  base::Status UnloadModel(const std::string& name, bool unload_dependents) override;
  base::Result<ModelTraits> FindModel(const std::string& name, int64_t version) override;
  base::Status Infer(std::unique_ptr<request::InferenceRequest>& request) override;
  Health* health() override { return health_reports; }

  /// Answers with one response: for each input an output with its name (EchoOutputName), type,
  /// shape and bytes. The nameless input of a raw request counts as UINT8 "INPUT0" of one
  /// dimension. Releases the request after the response is sent.
  static void Echo(std::unique_ptr<request::InferenceRequest> request);

  /// Answers with an error.
  static void Fail(std::unique_ptr<request::InferenceRequest> request, base::Status error);

  /// Sends the final flag without any response.
  static void AnswerNothing(std::unique_ptr<request::InferenceRequest> request);

  /// "INPUT0" -> "OUTPUT0", "IN" -> "OUT"; other names stay.
  static std::string EchoOutputName(const std::string& input_name);

  /// A handler that keeps requests until TakeHeld().
  Handler HoldHandler();

  /// Waits for a held request and takes the oldest.
  std::unique_ptr<request::InferenceRequest> TakeHeld();

  bool live = true;
  bool ready = true;
  Health* health_reports = nullptr;
  ServerMetadata server_metadata;
  std::map<std::string, ModelMetadata> models;
  std::map<std::string, ModelTraits> traits;
  std::shared_ptr<const config::ModelConfig> model_config;  // null: GetModelConfig fails
  std::map<std::string, std::vector<std::string>> labels;   // of every model, by output
  std::vector<ModelStatistics> statistics;
  std::vector<RepositoryIndexEntry> index;
  base::Status infer_refusal;  // not OK: every Infer fails with it, nothing is taken
  base::Status load_result;
  base::Status unload_result;
  Handler handler;
  /// Called by LoadModel before it returns.
  std::function<void(const std::string&, const std::vector<LoadParameter>&)> on_load;
  std::function<void(const std::string&, bool)> on_unload;
  std::function<void()> on_index;

 private:
  base::Mutex mutex_;
  base::ConditionVariable held_changed_;
  std::vector<std::unique_ptr<request::InferenceRequest>> held_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::api::testing
