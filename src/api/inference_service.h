// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/log_settings.h"
#include "api/metadata.h"
#include "api/rollout_control.h"
#include "api/shared_memory.h"
#include "api/statistics.h"
#include "api/trace_settings.h"
#include "base/mutex.h"
#include "base/result.h"
#include "config/model_config.h"
#include "request/inference_request.h"
#include "request/response_sink.h"

namespace nereid::api {

class Health;
class LoadControl;
class RefusedRequests;
class SequenceHandover;

/// What a front end must know about a model before it decodes a request for it.
struct ModelTraits {
  bool decoupled = false;
  int32_t max_batch_size = 0;
};

/// A parameter of a model load: "config" with JSON text, or "file:<path>" with a file's bytes.
struct LoadParameter {
  std::string name;
  std::string value;
};

/// The maximum number of sequences that ListSequences returns.
inline constexpr size_t kMaxSequencesListed = 1000;

/// The operations that a front end can call. Every function may be called from any thread and does
/// not block, unless its comment says otherwise: api::Cost says where a front end calls it. A
/// version of -1 means that the version policy decides. Errors have Triton's codes and messages;
/// the front end maps the code to the status of its protocol.
class InferenceService {
 public:
  virtual ~InferenceService() = default;

  /// Returns UNAVAILABLE "Server exiting" while the server stops.
  virtual base::Result<bool> IsServerLive() = 0;
  /// Returns whether the server serves requests and, with strict readiness, all models are ready.
  /// Returns UNAVAILABLE "Server exiting" while the server stops. With strict readiness it asks the
  /// plug-ins of all models and blocks until they answer. Must not be called on an event loop.
  virtual base::Result<bool> IsServerReady() = 0;
  /// Returns false for an unknown model or version. Asks the model's plug-in and blocks until it
  /// answers. Must not be called on an event loop; FindModel() asks no plug-in.
  virtual base::Result<bool> IsModelReady(const std::string& name, int64_t version) = 0;

  virtual ServerMetadata GetServerMetadata() = 0;
  /// Returns a model's metadata. Fails, with Triton's text, if the model version is not ready.
  virtual base::Result<ModelMetadata> GetModelMetadata(const std::string& name,
                                                       int64_t version) = 0;
  /// Returns a model's configuration, which may be kept longer than the model. Fails, with Triton's
  /// text, if the model version is not ready.
  virtual base::Result<std::shared_ptr<const config::ModelConfig>> GetModelConfig(
      const std::string& name, int64_t version) = 0;

  /// Returns the statistics of one model, or of all ready models if the name is empty. Returns
  /// INVALID_ARGUMENT for an unknown model.
  virtual base::Result<std::vector<ModelStatistics>> GetModelStatistics(const std::string& name,
                                                                        int64_t version) = 0;

  /// Returns a model's first live sequences, kMaxSequencesListed at most. Returns NOT_FOUND if the
  /// server does not list sequences or the model has none.
  virtual base::Result<SequenceList> ListSequences(const std::string& /*name*/,
                                                   int64_t /*version*/) {
    return base::Status::NotFound("sequences are not listed");
  }

  /// Reads the repositories' directories and blocks for as long as the file system takes. Must not
  /// be called on an event loop, nor be queued behind model loads.
  virtual base::Result<std::vector<RepositoryIndexEntry>> GetRepositoryIndex(bool ready_only) = 0;

  /// Blocks until the model is loaded, which may take minutes. Must not be called on an event loop.
  /// `is_abandoned` (may be empty) returns whether the client has gone away; only this call uses
  /// it. A load that waits for another load is then given up with CANCELLED; a load that has begun
  /// is completed.
  virtual base::Status LoadModel(const std::string& name, std::vector<LoadParameter> parameters,
                                 const std::function<bool()>& is_abandoned) = 0;
  /// Blocks until the model is marked for unloading, which may wait for a load. Must not be called
  /// on an event loop.
  virtual base::Status UnloadModel(const std::string& name, bool unload_dependents) = 0;

  /// Returns NOT_FOUND or UNAVAILABLE, with Triton's text, if the model does not serve requests.
  virtual base::Result<ModelTraits> FindModel(const std::string& name, int64_t version) = 0;

  /// Submits a request. On success it takes `request`, whose sink receives the responses, perhaps
  /// before this returns. On failure the caller still owns the request and the sink is not called.
  virtual base::Status Infer(std::unique_ptr<request::InferenceRequest>& request) = 0;

  /// Submits a request of a caller in this process, such as a plug-in. While the server waits for
  /// requests in progress, it still accepts these, because those requests may need them.
  virtual base::Status InferInProcess(std::unique_ptr<request::InferenceRequest>& request) {
    return Infer(request);
  }

  /// Changes settings of the log and returns the settings that hold then. The log is the process's.
  LogSettings UpdateLogSettings(const LogChanges& changes);

  /// Carries out the operation of the trace extension and returns the settings that hold then. If a
  /// model is named, it calls IsModelReady(), with its costs.
  /// `model` is empty for the server's own settings. Returns UNSUPPORTED without a trace control,
  /// and INVALID_ARGUMENT for a model that is not ready, before `read` is called.
  base::Result<TraceSettings> UpdateTraceSettings(const std::string& model,
                                                  const ReadTraceChanges& read);

  /// Returns what explains the health of the server and drains it; null if nothing does. It lives
  /// as long as the service.
  virtual Health* health() { return nullptr; }

  /// Returns the model version of a request's text: -1 for "", else a number or the version of a
  /// label. Returns INVALID_ARGUMENT for other text, and NOT_FOUND for a label that the model's
  /// rollout lacks.
  base::Result<int64_t> ResolveVersion(const std::string& model, std::string_view text,
                                       LabelUse use = LabelUse::kDescription);

  /// Sets the version of a request, whose model name is set, from the client's text. Errors are
  /// those of ResolveVersion.
  base::Status SetVersion(std::string_view text, request::RequestFields* request);

  /// What a service offers beyond requests to models; null members are not offered. The objects
  /// must outlive the front ends.
  struct Controls {
    RolloutControl* rollouts = nullptr;
    LoadControl* loads = nullptr;
    SequenceHandover* handover = nullptr;
    RefusedRequests* refused = nullptr;
  };
  /// Sets what the next functions return. Must not be called while a front end serves.
  void SetControls(const Controls& controls) { controls_ = controls; }
  /// Returns the rollouts of models.
  RolloutControl* rollouts() { return controls_.rollouts; }
  /// Returns the control of loads, what hands sequences over to other replicas, and what counts the
  /// requests that a front end refuses.
  const Controls& controls() const { return controls_; }

  /// Returns the shared memory of clients. Infer() gives a request its tensors in it.
  SharedMemory& shared_memory() { return shared_memory_; }

  /// Makes UpdateTraceSettings() act on `to` instead of `from`; null: on nothing. Does nothing if
  /// it does not act on `from`: of several front ends of a server, clients set the traces of the
  /// first. Waits until no call of UpdateTraceSettings() uses `from`, which may be deleted then.
  void ReplaceTraceControl(const TraceControl* from, TraceControl* to);

 private:
  base::Mutex trace_mutex_;
  TraceControl* trace_control_ NEREID_GUARDED_BY(trace_mutex_) = nullptr;
  Controls controls_;
  SharedMemory shared_memory_;
};

}  // namespace nereid::api
