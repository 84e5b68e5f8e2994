// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "ensemble/ensemble_plan.h"
#include "ensemble/ensemble_tensor.h"
#include "request/inference_request.h"

namespace nereid::ensemble {

/// The request that a step sends to its model: with the tensors of `start` as inputs, which it
/// keeps alive, and the mapped outputs requested. What the ensemble's request says of itself (id,
/// priority, timeout, deadline, parameters) goes on to every member; what it says of the sequence,
/// as the models in front of the step have changed it. `sink` gets the responses.
std::unique_ptr<request::InferenceRequest> MakeStepRequest(
    const request::InferenceRequest& ensemble, const EnsemblePlan::Step& step,
    const EnsembleRun::StepStart& start, const config::ModelConfig& member,
    std::shared_ptr<request::ResponseSink> sink);

/// What a step that starts with these tensors says of the sequence.
SequenceFields SequenceOf(const request::InferenceRequest& ensemble,
                          const EnsembleRun::StepStart& start);

}  // namespace nereid::ensemble
