// SPDX-License-Identifier: Apache-2.0
#pragma once

// NOT TensorRT's header. A stand-in that was written for Nereid's tests from TensorRT's public
// documentation: the declarations of nvinfer1 that backends/tensorrt uses, as far as they differ
// between the versions. A folder of each version defines NV_TENSORRT_MAJOR, _MINOR and _PATCH and
// includes this file. Classes are abstract here; fake_tensorrt.cc implements them.

#include <cstddef>
#include <cstdint>

#include "cuda_runtime_api.h"

#define STUB_VERSION (NV_TENSORRT_MAJOR * 100 + NV_TENSORRT_MINOR)
#define STUB_DEPRECATED [[deprecated]]

#if STUB_VERSION >= 1000
#define NV_TENSORRT_VERSION \
  (NV_TENSORRT_MAJOR * 10000L + NV_TENSORRT_MINOR * 100L + NV_TENSORRT_PATCH * 1L)
#else
// A constant of C++ that the preprocessor does not know.
#define NV_TENSORRT_VERSION nvinfer1::kStubVersion
#endif

namespace nvinfer1 {

#if STUB_VERSION < 1000
constexpr int32_t kStubVersion =
    NV_TENSORRT_MAJOR * 1000 + NV_TENSORRT_MINOR * 100 + NV_TENSORRT_PATCH;
#endif

enum class DataType : int32_t {
  kFLOAT = 0,
  kHALF = 1,
  kINT8 = 2,
  kINT32 = 3,
  kBOOL = 4,
  kUINT8 = 5,
  kFP8 = 6,
#if STUB_VERSION >= 900
  kBF16 = 7,
  kINT64 = 8,
#endif
#if STUB_VERSION >= 1000
  kINT4 = 9,
#endif
#if STUB_VERSION >= 1016
  kFP4 = 10,
  kE8M0 = 11,
#endif
};

// The formats that the tests name; there are more.
enum class TensorFormat : int32_t {
  kLINEAR = 0,
  kCHW4 = 3,
  kHWC8 = 1,
  kDLA_LINEAR = 9,
  kDLA_HWC4 = 10,
};

struct Dims {
  static constexpr int32_t MAX_DIMS = 8;
  int32_t nbDims;
#if STUB_VERSION >= 1000
  int64_t d[MAX_DIMS];
#else
  int32_t d[MAX_DIMS];
#endif
};

enum class TensorIOMode : int32_t { kNONE = 0, kINPUT = 1, kOUTPUT = 2 };
enum class TensorLocation : int32_t { kDEVICE = 0, kHOST = 1 };
enum class OptProfileSelector : int32_t { kMIN = 0, kOPT = 1, kMAX = 2 };

class ILogger {
 public:
  enum class Severity : int32_t {
    kINTERNAL_ERROR = 0,
    kERROR = 1,
    kWARNING = 2,
    kINFO = 3,
    kVERBOSE = 4,
  };
  virtual void log(Severity severity, char const* msg) noexcept = 0;
  virtual ~ILogger() = default;
};

class IOutputAllocator {
 public:
#if STUB_VERSION >= 1000
  STUB_DEPRECATED virtual void* reallocateOutput(char const* /*name*/, void* /*current*/,
                                                 uint64_t /*size*/,
                                                 uint64_t /*alignment*/) noexcept {
    return nullptr;
  }
  virtual void* reallocateOutputAsync(char const* name, void* current, uint64_t size,
                                      uint64_t alignment, cudaStream_t stream) = 0;
#else
  virtual void* reallocateOutput(char const* name, void* current, uint64_t size,
                                 uint64_t alignment) noexcept = 0;
#endif
  virtual void notifyShape(char const* name, Dims const& dims) noexcept = 0;
  virtual ~IOutputAllocator() = default;
};

class IExecutionContext {
 public:
  virtual ~IExecutionContext() noexcept = default;
  virtual bool setOptimizationProfileAsync(int32_t profile, cudaStream_t stream) noexcept = 0;
  virtual bool setInputShape(char const* name, Dims const& dims) noexcept = 0;
  virtual bool setTensorAddress(char const* name, void* data) noexcept = 0;
  virtual bool setOutputAllocator(char const* name, IOutputAllocator* allocator) noexcept = 0;
  virtual Dims getTensorShape(char const* name) const noexcept = 0;
#if STUB_VERSION >= 1001
  virtual void setDeviceMemoryV2(void* memory, int64_t size) noexcept = 0;
#else
  virtual void setDeviceMemory(void* memory) noexcept = 0;
#endif
  virtual bool enqueueV3(cudaStream_t stream) noexcept = 0;
};

#if STUB_VERSION >= 1000
enum class ExecutionContextAllocationStrategy : int32_t {
  kSTATIC = 0,
  kON_PROFILE_CHANGE = 1,
  kUSER_MANAGED = 2,
};
#endif

class ICudaEngine {
 public:
  virtual ~ICudaEngine() noexcept = default;
  virtual int32_t getNbIOTensors() const noexcept = 0;
  virtual char const* getIOTensorName(int32_t index) const noexcept = 0;
  virtual TensorIOMode getTensorIOMode(char const* name) const noexcept = 0;
  virtual Dims getTensorShape(char const* name) const noexcept = 0;
  virtual DataType getTensorDataType(char const* name) const noexcept = 0;
  virtual TensorLocation getTensorLocation(char const* name) const noexcept = 0;
  virtual bool isShapeInferenceIO(char const* name) const noexcept = 0;
  virtual TensorFormat getTensorFormat(char const* name, int32_t profile) const noexcept = 0;
  virtual char const* getTensorFormatDesc(char const* name, int32_t profile) const noexcept = 0;
  virtual int32_t getTensorVectorizedDim(char const* name, int32_t profile) const noexcept = 0;
  virtual int32_t getTensorComponentsPerElement(char const* name,
                                                int32_t profile) const noexcept = 0;
  virtual int32_t getNbOptimizationProfiles() const noexcept = 0;
  virtual Dims getProfileShape(char const* name, int32_t profile,
                               OptProfileSelector select) const noexcept = 0;
#if STUB_VERSION < 1000
  virtual bool hasImplicitBatchDimension() const noexcept = 0;
  STUB_DEPRECATED virtual int32_t getBindingIndex(char const* name) const noexcept = 0;
  STUB_DEPRECATED virtual int32_t const* getProfileShapeValues(
      int32_t profile, int32_t input, OptProfileSelector select) const noexcept = 0;
  virtual IExecutionContext* createExecutionContext() noexcept = 0;
  virtual IExecutionContext* createExecutionContextWithoutDeviceMemory() noexcept = 0;
  virtual size_t getDeviceMemorySize() const noexcept = 0;
#else
  virtual IExecutionContext* createExecutionContext(
      ExecutionContextAllocationStrategy strategy =
          ExecutionContextAllocationStrategy::kSTATIC) noexcept = 0;
#endif
#if STUB_VERSION >= 1001
  virtual int64_t getDeviceMemorySizeForProfileV2(int32_t profile) const noexcept = 0;
#elif STUB_VERSION >= 1000
  virtual size_t getDeviceMemorySizeForProfile(int32_t profile) const noexcept = 0;
#endif
#if STUB_VERSION >= 1000 && STUB_VERSION < 1011
  virtual int32_t const* getProfileTensorValues(char const* name, int32_t profile,
                                                OptProfileSelector select) const noexcept = 0;
#elif STUB_VERSION >= 1011 && STUB_VERSION < 1100
  STUB_DEPRECATED virtual int32_t const* getProfileTensorValues(
      char const* name, int32_t profile, OptProfileSelector select) const noexcept = 0;
#endif
#if STUB_VERSION >= 1011
  virtual int64_t const* getProfileTensorValuesV2(char const* name, int32_t profile,
                                                  OptProfileSelector select) const noexcept = 0;
#endif
};

class IRuntime {
 public:
  virtual ~IRuntime() noexcept = default;
  virtual void setDLACore(int32_t core) noexcept = 0;
  virtual int32_t getNbDLACores() const noexcept = 0;
  virtual void setEngineHostCodeAllowed(bool allowed) noexcept = 0;
  virtual ICudaEngine* deserializeCudaEngine(void const* blob, std::size_t size) noexcept = 0;
};

}  // namespace nvinfer1
