// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>

#include "nereid/backend/model_config.h"

namespace nereid::framework {

using backend::Error;

/// Where an instance computes: on the CPU or on one GPU.
struct Placement {
  /// The ordinal of the GPU; -1 for the CPU.
  int gpu = -1;

  bool on_gpu() const { return gpu >= 0; }
  auto operator<=>(const Placement&) const = default;
};

/// Reads where the server has placed an instance. An instance of KIND_MODEL counts as one on the
/// CPU.
Error ReadPlacement(TRITONBACKEND_ModelInstance* instance, Placement* placement);

/// Returns where the first instance of the model will probably run, according to the configuration
/// before the server has completed it. `prefers_gpu` says what happens to a model without instance
/// groups. A backend that opens the model there can use the opened model for the first instance.
Placement FirstPlacement(const backend::ModelConfig& config, bool prefers_gpu);

/// Returns why the CUDA driver cannot be used, for example because there is none; empty if it can.
std::string DriverProblem();

}  // namespace nereid::framework
