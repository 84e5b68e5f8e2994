// SPDX-License-Identifier: Apache-2.0
#include "fake_tensorrt.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "NvInferPlugin.h"

namespace nereid::tensorrt::testing {

FakeTensorRt& Fake() {
  static FakeTensorRt fake;
  return fake;
}

namespace {

using nvinfer1::Dims;

const FakeTensor& Find(const char* name) {
  const auto& tensors = Fake().tensors;
  return *std::find_if(tensors.begin(), tensors.end(),
                       [&](const FakeTensor& tensor) { return tensor.name == name; });
}

Dims ToDims(const std::vector<int64_t>& shape) {
  Dims dims = {};
  dims.nbDims = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), dims.d);
  return dims;
}

size_t BytesOf(const FakeTensor& tensor, const Dims& dims) {
  using nvinfer1::DataType;
  size_t size = tensor.type == DataType::kINT8 || tensor.type == DataType::kBOOL ? 1
                : tensor.type == DataType::kHALF                                 ? 2
                : tensor.type == DataType::kINT64                                ? 8
                                                                                 : 4;
  for (int32_t i = 0; i < dims.nbDims; ++i) {
    size *= static_cast<size_t>(dims.d[i]);
  }
  return size;
}

class FakeContext : public nvinfer1::IExecutionContext {
 public:
  bool setOptimizationProfileAsync(int32_t profile, cudaStream_t) noexcept override {
    profile_ = profile;
    return profile >= 0 && static_cast<size_t>(profile) < Fake().profiles.size();
  }
  bool setInputShape(char const* name, Dims const& dims) noexcept override {
    dims_[name] = dims;
    return dims.nbDims == static_cast<int32_t>(Find(name).dims.size());
  }
  bool setTensorAddress(char const* name, void* data) noexcept override {
    addresses_[name] = data;
    return data != nullptr;
  }
  bool setOutputAllocator(char const* name, nvinfer1::IOutputAllocator* to) noexcept override {
    allocators_[name] = to;
    return true;
  }
  bool enqueueV3(cudaStream_t) noexcept override {
    FakeTensorRt& fake = Fake();
    if (fake.enqueue_fails) {
      return false;
    }
    fake.last_profile = profile_;
    fake.last_shapes.clear();
    std::vector<const FakeTensor*> inputs, outputs;
    for (const FakeTensor& tensor : fake.tensors) {
      (tensor.input ? inputs : outputs).push_back(&tensor);
    }
    for (const FakeTensor* input : inputs) {
      const Dims& dims = dims_[input->name];
      fake.last_shapes[input->name].assign(dims.d, dims.d + dims.nbDims);
      if (input->shape_tensor) {
        const auto* values = static_cast<const int32_t*>(addresses_[input->name]);
        fake.last_values[input->name].assign(values, values + dims.d[0]);
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      const FakeTensor& source = *inputs[i % inputs.size()];
      const Dims& dims = dims_[source.name];
      const size_t size = BytesOf(source, dims);
      void* to = allocators_[outputs[i]->name]->reallocateOutput(outputs[i]->name.c_str(), nullptr,
                                                                 size, 256);
      if (to == nullptr) {
        return false;
      }
      std::memcpy(to, addresses_[source.name], size);
      if (source.type == nvinfer1::DataType::kFLOAT) {
        for (size_t k = 0; k < size / sizeof(float); ++k) {
          static_cast<float*>(to)[k] *= 2;
        }
      }
      allocators_[outputs[i]->name]->notifyShape(outputs[i]->name.c_str(), dims);
    }
    return true;
  }

 private:
  int32_t profile_ = -1;
  std::map<std::string, Dims> dims_;
  std::map<std::string, void*> addresses_;
  std::map<std::string, nvinfer1::IOutputAllocator*> allocators_;
};

class FakeEngine : public nvinfer1::ICudaEngine {
 public:
  int32_t getNbIOTensors() const noexcept override {
    return static_cast<int32_t>(Fake().tensors.size());
  }
  char const* getIOTensorName(int32_t index) const noexcept override {
    return Fake().tensors[static_cast<size_t>(index)].name.c_str();
  }
  nvinfer1::TensorIOMode getTensorIOMode(char const* name) const noexcept override {
    return Find(name).input ? nvinfer1::TensorIOMode::kINPUT : nvinfer1::TensorIOMode::kOUTPUT;
  }
  Dims getTensorShape(char const* name) const noexcept override { return ToDims(Find(name).dims); }
  nvinfer1::DataType getTensorDataType(char const* name) const noexcept override {
    return Find(name).type;
  }
  nvinfer1::TensorLocation getTensorLocation(char const* name) const noexcept override {
    return Find(name).shape_tensor ? nvinfer1::TensorLocation::kHOST
                                   : nvinfer1::TensorLocation::kDEVICE;
  }
  bool isShapeInferenceIO(char const* name) const noexcept override {
    return Find(name).shape_tensor;
  }
  int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<int32_t>(Fake().profiles.size());
  }
  Dims getProfileShape(char const* name, int32_t profile,
                       nvinfer1::OptProfileSelector select) const noexcept override {
    return ToDims(Numbers(name, profile, select));
  }
  int32_t const* getProfileTensorValues(
      char const* name, int32_t profile,
      nvinfer1::OptProfileSelector select) const noexcept override {
    const auto& numbers = Numbers(name, profile, select);
    values_.assign(numbers.begin(), numbers.end());
    return values_.data();
  }
  nvinfer1::IExecutionContext* createExecutionContext() noexcept override {
    return Fake().no_context ? nullptr : new FakeContext;
  }

 private:
  static const std::vector<int64_t>& Numbers(const char* name, int32_t profile,
                                             nvinfer1::OptProfileSelector select) {
    return Fake().profiles[static_cast<size_t>(profile)][name].numbers[static_cast<size_t>(select)];
  }
  mutable std::vector<int32_t> values_;
};

class FakeRuntime : public nvinfer1::IRuntime {
 public:
  explicit FakeRuntime(nvinfer1::ILogger* logger) : logger_(logger) {}
  nvinfer1::ICudaEngine* deserializeCudaEngine(void const* blob,
                                               std::size_t size) noexcept override {
    if (std::string_view(static_cast<const char*>(blob), size) == "a plan") {
      return new FakeEngine;
    }
    logger_->log(nvinfer1::ILogger::Severity::kERROR, "that is no plan");
    return nullptr;
  }

 private:
  nvinfer1::ILogger* logger_;
};

cudaError_t Allocate(void** pointer, size_t size) {
  if (Fake().no_device_memory) {
    return cudaErrorMemoryAllocation;
  }
  *pointer = std::malloc(size);
  ++Fake().live;
  return cudaSuccess;
}

cudaError_t Free(void* pointer) {
  std::free(pointer);
  --Fake().live;
  return cudaSuccess;
}

}  // namespace
}  // namespace nereid::tensorrt::testing

using nereid::tensorrt::testing::Allocate;
using nereid::tensorrt::testing::Fake;
using nereid::tensorrt::testing::Free;

namespace nvinfer1 {
IRuntime* createInferRuntime(ILogger& logger) noexcept {
  return new nereid::tensorrt::testing::FakeRuntime(&logger);
}
}  // namespace nvinfer1

extern "C" {
bool initLibNvInferPlugins(void*, char const*) { return true; }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : "invalid device ordinal";
}
cudaError_t cudaSetDevice(int device) {
  return device < Fake().devices ? cudaSuccess : cudaErrorInvalidDevice;
}
cudaError_t cudaMalloc(void** pointer, size_t size) { return Allocate(pointer, size); }
cudaError_t cudaFree(void* pointer) { return Free(pointer); }
cudaError_t cudaMallocHost(void** pointer, size_t size) { return Allocate(pointer, size); }
cudaError_t cudaFreeHost(void* pointer) { return Free(pointer); }
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, size);
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(&Fake());
  ++Fake().live;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  --Fake().live;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
}
