// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <openvino/runtime/infer_request.hpp>

#include "framework/plan.h"
#include "framework/session.h"

namespace nereid::openvino {

/// Runs a compiled model for one instance.
std::unique_ptr<framework::Session> MakeSession(std::shared_ptr<const framework::RunPlan> plan,
                                                ov::InferRequest request);

}  // namespace nereid::openvino
