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

}  // namespace nereid::pytorch
