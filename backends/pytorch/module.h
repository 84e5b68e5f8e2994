// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "nereid/backend/model_config.h"
#include "pytorch/forward.h"
#include "pytorch/settings.h"

namespace torch::jit {
struct Module;
}

namespace nereid::pytorch {

/// Sets what is the process' own, and says in the log what could not be as the model wants it.
void ApplyProcessSettings(const std::string& model, const ProcessSettings& settings);

/// Opens a TorchScript file.
Error LoadModule(const std::string& model, const std::string& path,
                 std::shared_ptr<torch::jit::Module>* module);

/// INVALID_ARG where the module has no method forward.
Error ReadForward(const std::string& model, const torch::jit::Module& module,
                  ForwardSignature* signature);

/// Of each argument of forward whether a run may be given memory that is the requests' own: nothing
/// in the method writes to it, and nothing goes on working with it beside the run. (What outlives
/// the run is seen after it.)
std::vector<bool> BorrowableArguments(const torch::jit::Module& module);

}  // namespace nereid::pytorch
