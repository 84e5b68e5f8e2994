// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "calls.h"
#include "device/cuda_api.h"
#include "streams.h"

/// Marks a function that the library exports.
#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace nereid::device;  // the signatures below use its names

// Every function has the signature of the list: a definition that differs does not compile.
#define FAKE_DECLARE(name, symbol, result, parameters) FAKE_EXPORT result symbol parameters;
NEREID_CUDA_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

namespace nereid::fake_gpu {

/// What a function needs before it can do anything.
enum class Needs { kNothing, kInitialized, kContext };

/// Counts the call of a function, and returns the error that it must return: an injected one, the
/// error that the device has for good, or the lack of what it needs.
CuResult Begin(const char* function, Needs needs);

/// The calls of the CUDA functions.
Calls& CudaCalls();
/// Returns the ordinal of the current context's device, or -1.
int CurrentDevice();
void SetInitialized();
/// Makes every later call for the device fail. A call for a device can succeed again after
/// `result` 0.
void SetDeviceError(int device, CuResult result);
CuResult DeviceError(int device);

/// Returns the stream of a handle, or null. The null handle is a stream of the current device.
std::shared_ptr<Stream> FindStream(CuStream handle);
/// Waits for all streams of a device.
void WaitForStreams(int device);

}  // namespace nereid::fake_gpu

/// Begins a function: returns its error if it must not succeed.
#define FAKE_BEGIN(needs)                                                               \
  if (const CuResult begin_result = nereid::fake_gpu::Begin(__func__, Needs::k##needs); \
      begin_result != kCudaSuccess) {                                                   \
    return begin_result;                                                                \
  }
