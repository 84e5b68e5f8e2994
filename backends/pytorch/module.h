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

/// Applies the settings that concern the whole process, and logs those that could not be applied or
/// have no effect for a model on the CPU or on a GPU.
void ApplyProcessSettings(const std::string& model, const ProcessSettings& settings, bool on_gpu);

/// Opens a TorchScript file after checking it, and moves its tensors to the GPU with the ordinal
/// `gpu`, or to the CPU for -1. NOT_FOUND, INVALID_ARG or INTERNAL with the reason.
Error LoadModule(const std::string& model, const std::string& path, int gpu,
                 std::shared_ptr<torch::jit::Module>* module);

/// Reads the signature of the method forward. INVALID_ARG if the module has no such method.
Error ReadForward(const std::string& model, const torch::jit::Module& module,
                  ForwardSignature* signature);

/// Returns for each argument of forward whether a run may use the memory of the requests for it.
/// That is so if nothing in the method writes to it and no task that the method starts may run
/// after it. (References that remain after the run are handled by BorrowedTensors.)
std::vector<bool> BorrowableArguments(const torch::jit::Module& module);

}  // namespace nereid::pytorch
