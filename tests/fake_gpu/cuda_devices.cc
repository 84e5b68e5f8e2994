// SPDX-License-Identifier: Apache-2.0
// The functions of libcuda.so.1 about the library, the devices and their contexts.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device_memory.h"
#include "exports.h"
#include "settings.h"

namespace nereid::device {

struct CuContextTag {
  int device;
};

}  // namespace nereid::device

namespace {

using namespace nereid::fake_gpu;

constexpr int kMaxGpus = 64;
constexpr CuResult kNotPermitted = 800;

std::atomic<bool> initialized{false};
std::atomic<CuResult> device_errors[kMaxGpus];
thread_local std::vector<CuContext> contexts;

CuContext ContextOf(int device) {
  static auto* const all = [] {
    auto* const made = new std::vector<CuContextTag>;
    for (int i = 0; i < kMaxGpus; ++i) made->push_back({i});
    return made;
  }();
  return &(*all)[static_cast<size_t>(device)];
}

const Settings::Gpu* FindGpu(CuDevice device) {
  const auto& gpus = Settings::Get().visible;
  return device >= 0 && static_cast<size_t>(device) < gpus.size()
             ? &gpus[static_cast<size_t>(device)]
             : nullptr;
}

/// Tells whether CUDA returns this error for the device until the process ends.
bool IsSticky(CuResult result) {
  return result == 46 || result == kCudaIllegalAddress || result == 702 ||
         (result >= 714 && result <= 719);
}

struct ErrorText {
  const char* name;
  const char* text;
};

const std::map<CuResult, ErrorText>& Errors() {
  static const auto* const errors = new std::map<CuResult, ErrorText>{
      {0, {"CUDA_SUCCESS", "no error"}},
      {1, {"CUDA_ERROR_INVALID_VALUE", "invalid argument"}},
      {2, {"CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}},
      {3, {"CUDA_ERROR_NOT_INITIALIZED", "initialization error"}},
      {4, {"CUDA_ERROR_DEINITIALIZED", "driver shutting down"}},
      {35, {"CUDA_ERROR_INSUFFICIENT_DRIVER", "CUDA driver version is insufficient"}},
      {46, {"CUDA_ERROR_DEVICE_UNAVAILABLE", "CUDA-capable device(s) is/are busy or unavailable"}},
      {100, {"CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}},
      {101, {"CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"}},
      {201, {"CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}},
      {214, {"CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"}},
      {217, {"CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported"}},
      {400, {"CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}},
      {600, {"CUDA_ERROR_NOT_READY", "device not ready"}},
      {700, {"CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"}},
      {704, {"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"}},
      {719, {"CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}},
      {800, {"CUDA_ERROR_NOT_PERMITTED", "operation not permitted"}},
      {900,
       {"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
        "operation not permitted when stream is capturing"}},
      {999, {"CUDA_ERROR_UNKNOWN", "unknown error"}},
  };
  return *errors;
}

CuResult CopyText(const std::string& from, char* text, int size) {
  if (text == nullptr || size <= 0) return kCudaInvalidValue;
  std::strncpy(text, from.c_str(), static_cast<size_t>(size));
  text[size - 1] = '\0';
  return kCudaSuccess;
}

}  // namespace

namespace nereid::fake_gpu {

Calls& CudaCalls() {
  static auto* const calls = new Calls("NEREID_FAKE_CUDA_FAIL");
  return *calls;
}

int CurrentDevice() { return contexts.empty() ? -1 : contexts.back()->device; }

void SetInitialized() { initialized = true; }

void SetDeviceError(int device, CuResult result) {
  if (device >= 0 && device < kMaxGpus) device_errors[device] = result;
}

CuResult DeviceError(int device) {
  return device >= 0 && device < kMaxGpus ? device_errors[device].load() : kCudaSuccess;
}

CuResult Begin(const char* function, Needs needs) {
  const CuResult injected = CudaCalls().Begin(function);
  const int device = CurrentDevice();
  if (injected != kCudaSuccess) {
    if (IsSticky(injected)) SetDeviceError(device, injected);
    return injected;
  }
  if (needs == Needs::kNothing) return kCudaSuccess;
  if (InHostFunction()) return kNotPermitted;
  if (!initialized) return kCudaNotInitialized;
  if (needs == Needs::kInitialized) return kCudaSuccess;
  return device < 0 ? kCudaInvalidContext : DeviceError(device);
}

}  // namespace nereid::fake_gpu

CuResult cuInit(unsigned flags) {
  FAKE_BEGIN(Nothing);
  if (flags != 0) return kCudaInvalidValue;
  if (Settings::Get().visible.empty()) return kCudaNoDevice;
  if (Settings::Get().visible.size() > kMaxGpus) return kCudaInvalidValue;
  SetInitialized();
  return kCudaSuccess;
}

CuResult cuDriverGetVersion(int* version) {
  FAKE_BEGIN(Nothing);
  *version = Settings::Get().version;
  return kCudaSuccess;
}

CuResult cuGetErrorName(CuResult result, const char** name) {
  const auto found = Errors().find(result);
  *name = found == Errors().end() ? nullptr : found->second.name;
  return *name == nullptr ? kCudaInvalidValue : kCudaSuccess;
}

CuResult cuGetErrorString(CuResult result, const char** text) {
  const auto found = Errors().find(result);
  *text = found == Errors().end() ? nullptr : found->second.text;
  return *text == nullptr ? kCudaInvalidValue : kCudaSuccess;
}

CuResult cuDeviceGetCount(int* count) {
  FAKE_BEGIN(Initialized);
  *count = static_cast<int>(Settings::Get().visible.size());
  return kCudaSuccess;
}

CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  FAKE_BEGIN(Initialized);
  if (FindGpu(ordinal) == nullptr) return kCudaInvalidDevice;
  *device = ordinal;
  return kCudaSuccess;
}

CuResult cuDeviceGetName(char* name, int size, CuDevice device) {
  FAKE_BEGIN(Initialized);
  const Settings::Gpu* gpu = FindGpu(device);
  return gpu == nullptr ? kCudaInvalidDevice : CopyText(GpuName(gpu->physical), name, size);
}

CuResult cuDeviceGetUuid(CuUuid* uuid, CuDevice device) {
  FAKE_BEGIN(Initialized);
  const Settings::Gpu* gpu = FindGpu(device);
  if (gpu == nullptr) return kCudaInvalidDevice;
  size_t nibble = 0;
  *uuid = {};
  for (const char digit : GpuUuid(gpu->physical).substr(4)) {
    if (digit == '-') continue;
    const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    char& byte = uuid->bytes[nibble / 2];
    byte = static_cast<char>((static_cast<unsigned char>(byte) << 4) | value);
    ++nibble;
  }
  return kCudaSuccess;
}

CuResult cuDeviceGetPCIBusId(char* text, int size, CuDevice device) {
  FAKE_BEGIN(Initialized);
  const Settings::Gpu* gpu = FindGpu(device);
  return gpu == nullptr ? kCudaInvalidDevice : CopyText(GpuPciId(gpu->physical), text, size);
}

CuResult cuDeviceTotalMem_v2(size_t* bytes, CuDevice device) {
  FAKE_BEGIN(Initialized);
  if (FindGpu(device) == nullptr) return kCudaInvalidDevice;
  *bytes = Settings::Get().memory;
  return kCudaSuccess;
}

CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice device) {
  FAKE_BEGIN(Initialized);
  const Settings::Gpu* gpu = FindGpu(device);
  if (gpu == nullptr) return kCudaInvalidDevice;
  switch (attribute) {
    case kCudaAttributeComputeMajor:
      *value = gpu->major;
      return kCudaSuccess;
    case kCudaAttributeComputeMinor:
      *value = gpu->minor;
      return kCudaSuccess;
    case kCudaAttributeIntegrated:
      *value = 0;
      return kCudaSuccess;
    case kCudaAttributeFileHandles:
      *value = Settings::Get().file_handles ? 1 : 0;
      return kCudaSuccess;
    default:
      return kCudaInvalidValue;
  }
}

CuResult cuDeviceCanAccessPeer(int* can, CuDevice device, CuDevice peer) {
  FAKE_BEGIN(Initialized);
  if (FindGpu(device) == nullptr || FindGpu(peer) == nullptr) return kCudaInvalidDevice;
  *can = device != peer && Settings::Get().peer_access ? 1 : 0;
  return kCudaSuccess;
}

CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice device) {
  FAKE_BEGIN(Initialized);
  if (FindGpu(device) == nullptr) return kCudaInvalidDevice;
  *context = ContextOf(device);
  return kCudaSuccess;
}

CuResult cuDevicePrimaryCtxRelease_v2(CuDevice device) {
  FAKE_BEGIN(Initialized);
  return FindGpu(device) == nullptr ? kCudaInvalidDevice : kCudaSuccess;
}

CuResult cuCtxPushCurrent_v2(CuContext context) {
  FAKE_BEGIN(Initialized);
  if (context == nullptr) return kCudaInvalidContext;
  contexts.push_back(context);
  return kCudaSuccess;
}

CuResult cuCtxPopCurrent_v2(CuContext* context) {
  FAKE_BEGIN(Initialized);
  if (contexts.empty()) return kCudaInvalidContext;
  if (context != nullptr) *context = contexts.back();
  contexts.pop_back();
  return kCudaSuccess;
}

CuResult cuCtxEnablePeerAccess(CuContext context, unsigned flags) {
  FAKE_BEGIN(Context);
  static std::mutex mutex;
  static auto* const enabled = new std::set<std::pair<int, int>>;
  if (context == nullptr || flags != 0) return kCudaInvalidValue;
  if (!Settings::Get().peer_access || context->device == CurrentDevice()) return 217;
  const std::lock_guard<std::mutex> lock(mutex);
  return enabled->emplace(CurrentDevice(), context->device).second ? kCudaSuccess
                                                                   : kCudaPeerAccessEnabled;
}

CuResult cuCtxSynchronize() {
  FAKE_BEGIN(Context);
  WaitForStreams(CurrentDevice());
  return DeviceError(CurrentDevice());
}
