// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/out_of_memory.h"

#include <algorithm>
#include <string_view>

#include "base/ascii_case.h"

namespace nereid::frontend::cloud {
namespace {

// In lower case; Triton looks for the same, but for the first two.
constexpr std::string_view kTexts[] = {
    "not enough memory",              // this server
    "bad_alloc",                      // the standard library
    "out of memory",                  // PyTorch and others
    "outofmemory",                    // ONNX Runtime
    "cuda_out_of_memory",             // CUDA
    "src tensor is not initialized",  // TensorFlow
    "cudnn_status_not_initialized",
    "cublas_status_alloc_failed",
    "cublas_status_not_initialized",
    "failed to allocate memory",
    "no space left on device",
};

bool Contains(std::string_view text, std::string_view lower_case) {
  const auto found = std::search(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                                 [](char a, char b) { return base::LowerCase(a) == b; });
  return found != text.end();
}

}  // namespace

bool IsOutOfMemory(const base::Status& status) {
  return !status.ok() &&
         std::any_of(std::begin(kTexts), std::end(kTexts),
                     [&](std::string_view text) { return Contains(status.message(), text); });
}

}  // namespace nereid::frontend::cloud
