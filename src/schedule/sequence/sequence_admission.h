// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "base/result.h"
#include "config/model_config.h"
#include "request/sequence_inputs.h"
#include "schedule/sequence/sequence_table.h"

namespace nereid::schedule {

/// Decides to which sequence a new request belongs. Not thread-safe.
class SequenceAdmission {
 public:
  /// `inputs` may be null: correlation ids are not checked and sequences have no states.
  SequenceAdmission(const config::ModelConfig& config,
                    std::shared_ptr<const request::SequenceInputs> inputs)
      : config_(config), inputs_(std::move(inputs)) {}

  /// Checks the batch size and the correlation id of a new request. Returns INVALID_ARGUMENT with
  /// Triton's texts.
  base::Status Check(const request::InferenceRequest& request) const;

  /// Returns the sequence that the request belongs to. Begins one if the request has START or, with
  /// iterative_sequence, no correlation id; the request gets an id and START then. Returns
  /// INVALID_ARGUMENT for a request whose sequence does not exist, and UNAVAILABLE if the model has
  /// only passive instances. Changes nothing if it fails, or throws std::bad_alloc.
  base::Result<Sequence*> FindOrBegin(request::InferenceRequest& request, SequenceTable& table,
                                      uint64_t now_ns);

  /// Returns the error for a request whose sequence does not exist.
  base::Status NotStarted(const request::InferenceRequest& request) const;

 private:
  const config::ModelConfig& config_;
  const std::shared_ptr<const request::SequenceInputs> inputs_;
  uint64_t next_internal_id_ = 1;
};

}  // namespace nereid::schedule
