// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/error.h"
#include "triton/core/tritonbackend.h"

namespace nereid::pytorch {

using backend::Error;

/// The state that all models of the process share: whether PyTorch can use GPUs.
struct Environment {
  /// Opens PyTorch's libraries for CUDA if the machine has a GPU. A failure is no error, because
  /// models can run on the CPU.
  Error Load(TRITONBACKEND_Backend* backend);

  /// Returns whether models without instance groups run on GPUs if the server uses GPUs.
  bool PrefersGpu() const { return cuda_problem.empty(); }

  /// Why PyTorch cannot use GPUs, and what to do about it; empty if it can.
  std::string cuda_problem;
};

}  // namespace nereid::pytorch
