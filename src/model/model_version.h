// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/digest.h"
#include "config/model_config.h"
#include "memory/host_buffer.h"
#include "model/instance_set.h"
#include "model/version_content.h"
#include "request/inference_request.h"
#include "request/model_identity.h"
#include "schedule/scheduler.h"
#include "schedule/sequence_port.h"
#include "telemetry/latency_summary.h"
#include "telemetry/model_statistics.h"
#include "telemetry/sequence_statistics.h"

namespace nereid::model {

/// A prepared change of a model's instances: the new instances exist and are warm. Has no effect
/// until it is applied. Must not outlive the model.
struct InstanceUpdate {
  config::ModelConfigPtr config;  // the model's, with the new instance groups
  std::vector<InstancePtr> created;
  std::unique_ptr<schedule::PreparedInstances> threads;  // of the new instances
  std::vector<InstancePtr> removed;
};

/// An object that takes the requests of one model version. Thread-safe.
class RequestReceiver {
 public:
  virtual ~RequestReceiver() = default;
  /// Takes a normalized request. On failure the caller still owns the request, no response was
  /// sent, and the failure is not counted. May execute on the calling thread if the request allows
  /// that.
  virtual base::Status Enqueue(std::unique_ptr<request::InferenceRequest>& request) = 0;
};

/// What answers a request to a model version.
struct AnswerSource {
  /// Identifies the content of the version and, for an ensemble, of the members that it has chosen.
  cache::Digest fingerprint;
  /// Takes the request, once, and answers with the members that were chosen. Must not outlive the
  /// version. Null: the version takes it.
  std::shared_ptr<RequestReceiver> receiver = nullptr;
};

/// One loaded version of a model, which computes with a backend (Model) or by calling other models
/// (ensemble::EnsembleModel). Thread-safe.
class ModelVersion : public RequestReceiver {
 public:
  /// Returns the identity as of the load; an update of instances does not change it.
  virtual const request::ModelIdentity& identity() const = 0;
  const config::ModelConfig& config() const { return *identity().config; }

  /// Returns memory in which the model wants large inputs of a request, of `size` bytes in all; a
  /// buffer without data if it has no wish. Other processes may read the bytes and write to them.
  virtual memory::HostBuffer TakeInputMemory(size_t /*size*/) { return {}; }

  /// Ends sequences that only wait for their client. Only callers that already hold the model can
  /// still send requests.
  virtual void EndIdleSequences() {}
  /// Returns whether requests may belong to sequences of this model or of models that it calls.
  virtual bool HasSequences() const { return config().sequence_batching().has_value(); }
  /// Returns the sequences for transfers; null if the model has none.
  virtual schedule::SequencePort* sequence_port() const { return nullptr; }
  /// Returns whether a request with this id joins a sequence that the model has.
  virtual bool HasSequence(const request::CorrelationId& id) const {
    const schedule::SequencePort* const port = sequence_port();
    return port != nullptr && port->Has(id);
  }
  /// Returns the first `most` live sequences; empty if the model has no sequences.
  virtual telemetry::SequenceList ListSequences(size_t /*most*/) const { return {}; }

  /// Returns an error if something that requests need cannot work.
  virtual base::Status CheckReady() = 0;

  virtual telemetry::ModelStatistics Statistics() const = 0;
  /// Returns the latency summaries; empty if the server keeps none.
  virtual telemetry::LatencySummaries Summaries() const { return {}; }

  /// Chooses what answers a request with these fields for these outputs, for the response cache of
  /// an ensemble. Returns nothing while the content is not known. Does not block.
  virtual std::optional<AnswerSource> Choose(const request::RequestFields& /*request*/,
                                             const std::vector<std::string>& /*outputs*/) {
    const auto known = content_ == nullptr ? std::nullopt : content_->Known();
    return known ? std::optional(AnswerSource{*known}) : std::nullopt;
  }
  /// Reads the version's files for Choose, and those of the members of an ensemble. Blocks.
  virtual void ReadContent() {
    if (content_ != nullptr) content_->ReadForEnsembles();
  }

  /// Prepares the change from the present instances to those of `wanted`, a configuration that may
  /// differ from the model's in instance_group and version_policy only. Blocks while instances are
  /// created. Only one update may be in progress.
  virtual base::Result<InstanceUpdate> PrepareUpdate(const config::ModelConfig& wanted) = 0;
  /// Puts the new instances into service, waits until the removed ones have finished their batches,
  /// and destroys them. With sequences, the removed instances get no new sequences, and a
  /// background thread destroys them when their last sequence has ended.
  virtual void ApplyUpdate(InstanceUpdate update) = 0;

 protected:
  /// Set by the load if the server has a response cache, else null.
  std::unique_ptr<VersionContent> content_;
};

/// Follows one submission. Called on the submitting thread, without a lock.
class SubmissionWatch {
 public:
  virtual ~SubmissionWatch() = default;
  /// Called for a bound, normalized request before it is enqueued. May wrap the sink of its
  /// response factory.
  virtual void OnBound(request::InferenceRequest& request) = 0;
  /// Called when the submission has failed.
  virtual void OnRefused(const base::Status& error) = 0;
};

/// Binds the request to `identity`, which must share ownership with the version of `receiver`,
/// normalizes it and enqueues it. On failure the caller owns the request, unbound, and nothing was
/// sent.
base::Status Submit(std::shared_ptr<const request::ModelIdentity> identity,
                    RequestReceiver& receiver, std::unique_ptr<request::InferenceRequest>& request);

/// Does the same, and tells `watch`.
base::Status Submit(std::shared_ptr<const request::ModelIdentity> identity,
                    RequestReceiver& receiver, std::unique_ptr<request::InferenceRequest>& request,
                    SubmissionWatch& watch);

}  // namespace nereid::model
