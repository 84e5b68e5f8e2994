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

/// The inputs that the server adds to the requests of a sequence model before a backend gets them:
/// the control inputs and the states. One object per loaded version. Thread-safe.
class SequenceInputs {
 public:
  /// Reads the files of initial states from `model_directory`. Returns the errors of
  /// StateLayout::Create.
  static base::Result<std::shared_ptr<SequenceInputs>> Create(config::ModelConfigPtr config,
                                                              const std::string& model_directory);

  bool has_states() const { return !layout_->entries().empty(); }
  /// Returns states for one sequence or slot, without values and without memory before the first
  /// START. Returns null if the model has no states.
  std::shared_ptr<SequenceStates> NewStates() const;

  /// Returns INVALID_ARGUMENT if the model's CORRID control is numeric and the request's id is a
  /// string, or the other way round. For use when a request is enqueued.
  base::Status CheckCorrelationId(const InferenceRequest& request) const;

  /// Adds the inputs START, END, READY and CORRID according to the request's flags, its id and
  /// `ready`, and `states` (null where the model has none), which are reset if the request has
  /// START. Returns UNAVAILABLE when memory is short; nothing is added then. ReleaseRequest removes
  /// the inputs again and commits the states.
  base::Status Attach(InferenceRequest& request, std::shared_ptr<SequenceStates> states,
                      bool ready = true) const;

  /// Returns a request that fills an empty row of a batch. Its inputs have the names and shapes of
  /// those of `reference`, which must have been attached, with zeros. All controls are false, the
  /// correlation id is 0, the states are zeros; it has no outputs and no id. It is bound to the
  /// reference's model, and its responses are discarded. Returns UNAVAILABLE when memory is short.
  base::Result<std::unique_ptr<InferenceRequest>> NewNullRequest(
      const InferenceRequest& reference) const;

 private:
  SequenceInputs(config::ModelConfigPtr config, std::shared_ptr<const StateLayout> layout);

  base::Status AddControls(InferenceRequest& request, bool ready) const;

  const config::ModelConfigPtr config_;  // holds the bytes of the controls
  const std::shared_ptr<const StateLayout> layout_;
  tensor::Shape control_shape_;
  std::shared_ptr<ResponseSink> null_sink_;
  mutable ZeroBlock zeros_;
};

}  // namespace nereid::request
