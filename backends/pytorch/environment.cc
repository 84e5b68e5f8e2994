// SPDX-License-Identifier: Apache-2.0
#include "pytorch/environment.h"

#include <ATen/Context.h>
#include <dlfcn.h>

#include <filesystem>

#include "framework/placement.h"
#include "nereid/backend/log.h"
#include "pytorch/torch_error.h"

namespace nereid::pytorch {
namespace {

/// Returns the directory of the PyTorch libraries that this plug-in links.
std::filesystem::path LibraryDirectory() {
  Dl_info info = {};
  dladdr(reinterpret_cast<const void*>(&at::globalContext), &info);
  return info.dli_fname == nullptr ? "" : std::filesystem::path(info.dli_fname).parent_path();
}

/// Opens libtorch_cuda.so, which is not linked because most machines lack it and what it needs. It
/// registers the device CUDA with PyTorch, so this must happen before PyTorch is first asked about
/// GPUs. Returns the reason if GPUs cannot be used.
std::string OpenCuda() {
  const std::filesystem::path library = LibraryDirectory() / "libtorch_cuda.so";
  std::error_code failure;
  if (!std::filesystem::exists(library, failure)) {
    return "this PyTorch is the one for the CPU: there is no " + library.string() +
           "; install PyTorch's package for CUDA";
  }
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
    return std::string("its library for CUDA cannot be opened: ") + dlerror() +
           "; install the CUDA libraries that PyTorch needs (tools/fetch_framework.sh FOLDER "
           "pytorch --gpu)";
  }
  bool usable = false;
  const Error error = CatchTorch("PyTorch", [&]() -> Error {
    usable = at::globalContext().hasCUDA();
    return {};
  });
  return usable       ? ""
         : error.ok() ? "its CUDA finds no GPU that it can use with this driver"
                      : error.message();
}

}  // namespace

Error Environment::Load(TRITONBACKEND_Backend*) {
  cuda_problem = framework::DriverProblem();
  if (!cuda_problem.empty()) {
    return {};
  }
  cuda_problem = OpenCuda();
  if (!cuda_problem.empty()) {
    NEREID_BACKEND_LOG(WARN, "PyTorch uses no GPU: " + cuda_problem);
  }
  return {};
}

}  // namespace nereid::pytorch
