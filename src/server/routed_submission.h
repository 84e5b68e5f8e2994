// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/status.h"
#include "repository/model_table.h"
#include "request/inference_request.h"
#include "rollout/rollout.h"
#include "server/served_model.h"
#include "server/shared_submission.h"

namespace nereid::server {

/// Submits a request to the version that was chosen for it, counts its end for the rollout (null:
/// the model has none), and sends a copy to the shadow version if the rollout has one, `may_shadow`
/// holds, the request is selected, and neither version is decoupled or has sequences. A copy has no
/// effect on the request. Other parameters and the result are those of model::Submit.
base::Status SubmitRouted(const repository::ModelTable& table,
                          const std::shared_ptr<rollout::Rollout>& rollout,
                          std::shared_ptr<ServedModel> served, bool may_shadow,
                          SharedSubmission& shared,
                          std::unique_ptr<request::InferenceRequest>& request);

}  // namespace nereid::server
