// SPDX-License-Identifier: Apache-2.0
#include "device/cuda_driver.h"

#include <cstdlib>
#include <string>

#include "base/shared_library.h"

namespace nereid::device {
namespace {

using base::Status;

constexpr char kLibrary[] = "libcuda.so.1";

base::Result<const CudaDriver*> Load() {
  static CudaDriver driver;
  if (std::getenv("TRITON_SERVER_CPU_ONLY") != nullptr) {
    return Status::Unavailable("GPUs are not used because TRITON_SERVER_CPU_ONLY is set");
  }
  auto opened = base::SharedLibrary::Open(kLibrary);
  if (!opened.ok()) {
    return Status::Unavailable("there is no CUDA driver: " + opened.status().message());
  }
  base::SharedLibrary& library = **opened;
  const char* missing = nullptr;
  const auto find = [&](const char* symbol, auto* function) {
    library.Find(symbol, function);
    if (*function == nullptr) missing = symbol;
  };
#define NEREID_CUDA_FIND(name, symbol, result, parameters) find(#symbol, &driver.name);
  NEREID_CUDA_FUNCTIONS(NEREID_CUDA_FIND)
#undef NEREID_CUDA_FIND
  if (missing != nullptr) {
    return Status::Unsupported(std::string("the CUDA driver is too old: ") + kLibrary + " lacks " +
                               missing);
  }
  // The driver has threads and exit handlers of its own once it is initialized.
  library.Leak();
  const CuResult initialized = driver.Init(0);
  if (initialized == kCudaNoDevice) return Status::Unavailable("the CUDA driver finds no GPU");
  NEREID_RETURN_IF_ERROR(driver.ToStatus(initialized, "initialize the CUDA driver"));
  return &driver;
}

}  // namespace

base::Result<const CudaDriver*> CudaDriver::Get() {
  static const base::Result<const CudaDriver*> driver = Load();
  return driver;
}

base::Status CudaDriver::ToStatus(CuResult result, const std::string& what) const {
  if (result == kCudaSuccess) return Status::Ok();
  const char* name = nullptr;
  const char* text = nullptr;
  if (GetErrorName(result, &name) != kCudaSuccess) name = nullptr;
  if (GetErrorString(result, &text) != kCudaSuccess) text = nullptr;
  std::string message = "cannot " + what + ": " + (text == nullptr ? "unknown error" : text) +
                        " (" + (name == nullptr ? std::to_string(result) : name) + ")";
  return result == kCudaOutOfMemory ? Status::Unavailable(std::move(message))
                                    : Status::Internal(std::move(message));
}

}  // namespace nereid::device
