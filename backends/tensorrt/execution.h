// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/session.h"
#include "tensorrt/cuda.h"
#include "tensorrt/engine.h"

namespace nereid::tensorrt {

/// The buffer of an output, whose size TensorRT determines during the run. It is in device memory,
/// or on the host for a shape tensor.
class OutputBuffer : public nvinfer1::IOutputAllocator {
 public:
  explicit OutputBuffer(bool on_host) : on_host_(on_host) {}

  void* reallocateOutput(char const* name, void* current, uint64_t size,
                         uint64_t alignment) noexcept override;
  void notifyShape(char const* name, nvinfer1::Dims const& dims) noexcept override;

  void Reset() { shape_.nbDims = -1; }
  const nvinfer1::Dims& shape() const { return shape_; }
  /// Starts to copy `size` bytes to the host. They are complete when the stream is synchronized.
  Error Fetch(uint64_t size, cudaStream_t stream, const char** data);

 private:
  const bool on_host_;
  DeviceBuffer device_;
  PinnedBuffer host_;
  nvinfer1::Dims shape_ = {};
};

/// An execution context for one profile, with its stream and buffers. Not thread-safe.
class Execution {
 public:
  /// `engine` must outlive the execution.
  static Error Create(const Engine* engine, int profile, std::unique_ptr<Execution>* execution);

  /// Copies an input to the memory from which the engine reads it.
  Error SetInput(size_t input, std::span<const int64_t> shape, const char* data, uint64_t size);
  /// Runs the engine and waits for the outputs with these indices. The results point into this
  /// object and are valid until the next run.
  Error Run(std::span<const size_t> outputs, std::span<framework::OutputTensor> results);

 private:
  explicit Execution(const Engine* engine)
      : engine_(*engine),
        device_inputs_(engine->inputs().size()),
        host_inputs_(engine->inputs().size()) {}

  Error Prepare(int profile);
  Error Wrong(const std::string& what) const;

  const Engine& engine_;
  std::unique_ptr<nvinfer1::IExecutionContext> context_;
  CudaStream stream_;
  std::vector<DeviceBuffer> device_inputs_;
  std::vector<std::vector<char>> host_inputs_;
  std::vector<std::unique_ptr<OutputBuffer>> outputs_;
};

}  // namespace nereid::tensorrt
