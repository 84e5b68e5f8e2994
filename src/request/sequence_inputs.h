// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/model_config.h"
#include "request/inference_request.h"
#include "request/sequence_states.h"
#include "request/state_layout.h"
#include "request/zero_block.h"

namespace nereid::request {

/// What the server adds to the requests of a sequence model before a backend gets them: the control
/// inputs, and the states. Made once for each loaded version, which it may not outlive.
/// Thread-safe.
class SequenceInputs {
 public:
  /// Reads the files of initial states. INVALID_ARGUMENT where one does not fit.
  static base::Result<std::shared_ptr<SequenceInputs>> Create(config::ModelConfigPtr config,
                                                              const std::string& model_directory);

  bool has_states() const { return !layout_->entries().empty(); }
  /// For one sequence, or one slot; null where the model keeps no states. Takes no memory for the
  /// states before the first START.
  std::shared_ptr<SequenceStates> NewStates() const;

  /// Whether a request with this id can be told to the model: INVALID_ARGUMENT where the CORRID
  /// control is numeric and the id is a string, or the other way round. For enqueue.
  base::Status CheckCorrelationId(const InferenceRequest& request) const;

  /// Makes a request ready that is about to be handed out: adds START, END, READY and CORRID as its
  /// flags, its id and `ready` are, and `states` (null where the model has none), which it resets
  /// if the request has START. UNAVAILABLE when memory is short: nothing was added then.
  /// request::ReleaseRequest removes all of it again, and commits the states.
  base::Status Attach(InferenceRequest& request, std::shared_ptr<SequenceStates> states,
                      bool ready = true) const;

  /// A request that fills an empty place of a batch beside `reference`, which has been attached:
  /// inputs of the same names and shapes with zeros, all controls false, correlation id 0, zeros
  /// for states, no outputs, no id. It is bound to the reference's model and complete; responses to
  /// it go nowhere. UNAVAILABLE when memory is short.
  base::Result<std::unique_ptr<InferenceRequest>> NewNullRequest(
      const InferenceRequest& reference) const;

 private:
  SequenceInputs(config::ModelConfigPtr config, std::shared_ptr<const StateLayout> layout);

  base::Status AddControls(InferenceRequest& request, bool ready) const;

  const config::ModelConfigPtr config_;  // has the bytes of the controls
  const std::shared_ptr<const StateLayout> layout_;
  tensor::Shape control_shape_;
  std::shared_ptr<ResponseSink> null_sink_;
  mutable ZeroBlock zeros_;
};

}  // namespace nereid::request
