// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "cache/digest.h"
#include "config/model_config.h"
#include "model/instance_set.h"
#include "request/inference_request.h"
#include "request/model_identity.h"
#include "schedule/scheduler.h"
#include "telemetry/latency_summary.h"
#include "telemetry/model_statistics.h"
#include "telemetry/sequence_statistics.h"

namespace nereid::model {

/// A change of a model's instances that is prepared: what is new exists and is warm. Without effect
/// until it is applied; must not outlive the model.
struct InstanceUpdate {
  config::ModelConfigPtr config;  // the model's, with the new instance groups
  std::vector<InstancePtr> created;
  std::unique_ptr<schedule::PreparedInstances> threads;  // of the new ones
  std::vector<InstancePtr> removed;
};

/// One loaded version of a model, however it computes: with a backend (Model), or by calling other
/// models (ensemble::EnsembleModel). Thread-safe.
class ModelVersion {
 public:
  virtual ~ModelVersion() = default;

  /// As the model was loaded; an update of its instances makes a configuration of its own.
  virtual const request::ModelIdentity& identity() const = 0;
  const config::ModelConfig& config() const { return *identity().config; }

  /// Takes a normalised request. On failure the caller still owns it, nothing was sent, and the
  /// failure is not counted. May run the request on the calling thread if it allows that.
  virtual base::Status Enqueue(std::unique_ptr<request::InferenceRequest>& request) = 0;

  /// From now on refuses new requests; what was taken is still served.
  virtual void StopAccepting() = 0;

  /// No request will come any more, but of those who have found the model already.
  virtual void EndIdleSequences() {}
  /// Whether requests may belong to sequences, its own or those of the models that it calls.
  virtual bool HasSequences() const { return config().has_sequence_batching(); }
  /// The first `most` of the live sequences; none where the model keeps no sequences.
  virtual telemetry::SequenceList ListSequences(size_t /*most*/) const { return {}; }

  /// Whether all that requests need can work.
  virtual base::Status CheckReady() = 0;

  virtual telemetry::ModelStatistics Statistics() const = 0;
  /// Empty where the server keeps no summaries.
  virtual telemetry::LatencySummaries Summaries() const { return {}; }

  /// Stands for what the version computes; see cache::FingerprintModel. Reads its files: blocks.
  virtual base::Result<cache::Digest> Fingerprint() const = 0;

  /// Prepares the change from the instances that exist to those that `wanted` asks for, a
  /// configuration that differs from the model's in instance_group and version_policy alone. Blocks
  /// while new instances are made. One update at a time.
  virtual base::Result<InstanceUpdate> PrepareUpdate(const config::ModelConfig& wanted) = 0;
  /// Puts the new instances into service, lets the removed ones finish what they run, and destroys
  /// them. Sequences that have begun on a removed instance go on there: it gets no new ones, and is
  /// destroyed in the background when the last of them is over.
  virtual void ApplyUpdate(InstanceUpdate update) = 0;
};

/// Binds the request to `identity`, which shares ownership with `version`, checks it (Normalize),
/// and hands it over. On failure the request is the caller's, unbound, and nothing was sent.
base::Status Submit(std::shared_ptr<const request::ModelIdentity> identity, ModelVersion& version,
                    std::unique_ptr<request::InferenceRequest>& request);

}  // namespace nereid::model
