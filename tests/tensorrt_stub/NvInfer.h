// SPDX-License-Identifier: Apache-2.0
#pragma once

// NOT TensorRT's header. A stand-in, written for Nereid's tests from TensorRT's public
// documentation: the declarations of nvinfer1 that backends/tensorrt uses, so that the backend is
// compiled and tested where TensorRT is not installed. Classes are abstract here; fake_tensorrt.cc
// implements them. Nothing that executes models is compiled with it.

#include <cstddef>
#include <cstdint>

#include "cuda_runtime_api.h"

#define NV_TENSORRT_MAJOR 10

namespace nvinfer1 {

enum class DataType : int32_t {
  kFLOAT = 0,
  kHALF = 1,
  kINT8 = 2,
  kINT32 = 3,
  kBOOL = 4,
  kUINT8 = 5,
  kFP8 = 6,
  kBF16 = 7,
  kINT64 = 8,
  kINT4 = 9,
};

struct Dims {
  static constexpr int32_t MAX_DIMS = 8;
  int32_t nbDims;
  int64_t d[MAX_DIMS];
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
  virtual void* reallocateOutput(char const* tensorName, void* currentMemory, uint64_t size,
                                 uint64_t alignment) noexcept = 0;
  virtual void notifyShape(char const* tensorName, Dims const& dims) noexcept = 0;
  virtual ~IOutputAllocator() = default;
};

class IExecutionContext {
 public:
  virtual ~IExecutionContext() noexcept = default;
  virtual bool setOptimizationProfileAsync(int32_t profileIndex, cudaStream_t stream) noexcept = 0;
  virtual bool setInputShape(char const* tensorName, Dims const& dims) noexcept = 0;
  virtual bool setTensorAddress(char const* tensorName, void* data) noexcept = 0;
  virtual bool setOutputAllocator(char const* tensorName,
                                  IOutputAllocator* outputAllocator) noexcept = 0;
  virtual bool enqueueV3(cudaStream_t stream) noexcept = 0;
};

class ICudaEngine {
 public:
  virtual ~ICudaEngine() noexcept = default;
  virtual int32_t getNbIOTensors() const noexcept = 0;
  virtual char const* getIOTensorName(int32_t index) const noexcept = 0;
  virtual TensorIOMode getTensorIOMode(char const* tensorName) const noexcept = 0;
  virtual Dims getTensorShape(char const* tensorName) const noexcept = 0;
  virtual DataType getTensorDataType(char const* tensorName) const noexcept = 0;
  virtual TensorLocation getTensorLocation(char const* tensorName) const noexcept = 0;
  virtual bool isShapeInferenceIO(char const* tensorName) const noexcept = 0;
  virtual int32_t getNbOptimizationProfiles() const noexcept = 0;
  virtual Dims getProfileShape(char const* tensorName, int32_t profileIndex,
                               OptProfileSelector select) const noexcept = 0;
  virtual int32_t const* getProfileTensorValues(char const* tensorName, int32_t profileIndex,
                                                OptProfileSelector select) const noexcept = 0;
  virtual IExecutionContext* createExecutionContext() noexcept = 0;
};

class IRuntime {
 public:
  virtual ~IRuntime() noexcept = default;
  virtual ICudaEngine* deserializeCudaEngine(void const* blob, std::size_t size) noexcept = 0;
};

IRuntime* createInferRuntime(ILogger& logger) noexcept;

}  // namespace nvinfer1
