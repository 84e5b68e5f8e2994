// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/metadata.h"
#include "api/statistics.h"
#include "base/result.h"
#include "config/model_config.h"
#include "request/inference_request.h"
#include "request/response_sink.h"

namespace nereid::api {

/// What a front end must know of a model before it decodes a request for it.
struct ModelTraits {
  bool decoupled = false;
  int32_t max_batch_size = 0;
};

/// A parameter of a model load: "config" with JSON text, or "file:<path>" with a file's bytes.
struct LoadParameter {
  std::string name;
  std::string value;
};

/// How many sequences ListSequences gives: what a person can look through.
inline constexpr size_t kMostSequencesListed = 1000;

/// Everything that a front end can ask of the server. All functions may be called from any thread;
/// none blocks, unless its comment says so. Versions are -1 for "the version policy decides".
/// Failures carry Triton's codes and messages; a front end maps the code to its wire's status.
class InferenceService {
 public:
  virtual ~InferenceService() = default;

  /// UNAVAILABLE "Server exiting" while shutting down.
  virtual base::Result<bool> IsServerLive() = 0;
  virtual base::Result<bool> IsServerReady() = 0;
  /// False for an unknown model or version.
  virtual base::Result<bool> IsModelReady(const std::string& name, int64_t version) = 0;

  virtual ServerMetadata GetServerMetadata() = 0;
  virtual base::Result<ModelMetadata> GetModelMetadata(const std::string& name,
                                                       int64_t version) = 0;
  virtual base::Result<std::shared_ptr<const config::ModelConfig>> GetModelConfig(
      const std::string& name, int64_t version) = 0;

  /// An empty name asks for all models that are ready. INVALID_ARGUMENT for an unknown one.
  virtual base::Result<std::vector<ModelStatistics>> GetModelStatistics(const std::string& name,
                                                                        int64_t version) = 0;

  /// The first of a model's live sequences, kMostSequencesListed at most. NOT_FOUND where the
  /// server does not list sequences, or the model has none.
  virtual base::Result<SequenceList> ListSequences(const std::string& /*name*/,
                                                   int64_t /*version*/) {
    return base::Status::NotFound("sequences are not listed");
  }

  /// Reads the directories of the repositories: blocks for as long as a file system takes. Never
  /// call from an I/O loop, nor make it wait behind loads.
  virtual base::Result<std::vector<RepositoryIndexEntry>> GetRepositoryIndex(bool ready_only) = 0;

  /// Block until the model is loaded (unload: until it is marked), which takes minutes. Never call
  /// from an I/O loop. `is_abandoned` (empty: never) says whether the client has gone away; it is
  /// asked only by this call. A load that waits for another to end is then given up with CANCELLED;
  /// one that has begun is finished.
  virtual base::Status LoadModel(const std::string& name, std::vector<LoadParameter> parameters,
                                 const std::function<bool()>& is_abandoned) = 0;
  virtual base::Status UnloadModel(const std::string& name, bool unload_dependents) = 0;

  /// NOT_FOUND/UNAVAILABLE with Triton's text when the model cannot be asked.
  virtual base::Result<ModelTraits> FindModel(const std::string& name, int64_t version) = 0;

  /// Submits a request. On success `request` is taken, and its sink gets the responses (maybe
  /// before this returns). On failure the caller still owns it and the sink is never called.
  virtual base::Status Infer(std::unique_ptr<request::InferenceRequest>& request) = 0;

  /// The same for callers in this process, which include the plug-ins: while the server waits for
  /// requests in flight, it still takes those that such requests need.
  virtual base::Status InferInProcess(std::unique_ptr<request::InferenceRequest>& request) {
    return Infer(request);
  }
};

}  // namespace nereid::api
