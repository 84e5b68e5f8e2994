// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "device/cuda_api.h"

namespace nereid::device {

/// The functions of the CUDA driver. The library libcuda.so.1 is opened when its first user asks
/// for it, and never linked: a machine without GPUs has no such file. Thread-safe.
struct CudaDriver {
#define NEREID_CUDA_MEMBER(name, symbol, result, parameters) result(*name) parameters = nullptr;
  NEREID_CUDA_FUNCTIONS(NEREID_CUDA_MEMBER)
#undef NEREID_CUDA_MEMBER

  /// Opens and initializes the driver, once; it stays open until the process ends. Returns
  /// UNAVAILABLE, with the reason, if there is no driver or no GPU, or if TRITON_SERVER_CPU_ONLY is
  /// set in the environment. Returns UNSUPPORTED if the driver lacks a function, and its own error
  /// if it cannot be initialized.
  static base::Result<const CudaDriver*> Get();

  /// Returns OK for kCudaSuccess. Otherwise returns UNAVAILABLE for a lack of memory and INTERNAL
  /// for every other error: "cannot <what>: <text of the driver> (<name of the error>)".
  base::Status ToStatus(CuResult result, const std::string& what) const;
};

}  // namespace nereid::device
