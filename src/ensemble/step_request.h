// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "ensemble/ensemble_plan.h"
#include "ensemble/ensemble_tensor.h"
#include "request/inference_request.h"

namespace nereid::ensemble {

/// Returns the request that a step sends to its model: its inputs are the tensors of `start`, which
/// it keeps alive, and its requested outputs are the mapped ones. Copies id, priority, timeout,
/// deadline and parameters from the ensemble's request, and the sequence fields as the models
/// before the step have changed them. `sink` receives the responses.
std::unique_ptr<request::InferenceRequest> MakeStepRequest(
    const request::InferenceRequest& ensemble, const EnsemblePlan::Step& step,
    const EnsembleRun::StepStart& start, const config::ModelConfig& member,
    std::shared_ptr<request::ResponseSink> sink);

/// Returns the sequence fields of a step that starts with these tensors.
SequenceFields SequenceOf(const request::InferenceRequest& ensemble,
                          const EnsembleRun::StepStart& start);

}  // namespace nereid::ensemble
