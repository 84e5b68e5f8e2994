// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/session.h"
#include "tensorrt/cuda.h"
#include "tensorrt/engine.h"
#include "tensorrt/graph_spec.h"
#include "tensorrt/streams.h"

namespace nereid::tensorrt {

/// The buffer of an output, whose size TensorRT determines during the run. It is in device memory,
/// or on the host if the engine needs it there.
class OutputBuffer : public nvinfer1::IOutputAllocator {
 public:
  OutputBuffer(Gpu* gpu, bool on_host)
      : on_host_(on_host),
        device_(gpu, CudaBuffer::Place::kDevice),
        host_(gpu, CudaBuffer::Place::kHost) {}

#if NV_TENSORRT_MAJOR >= 10
  void* reallocateOutputAsync(char const* name, void* current, uint64_t size, uint64_t alignment,
                              cudaStream_t stream) noexcept override;
#else
  void* reallocateOutput(char const* name, void* current, uint64_t size,
                         uint64_t alignment) noexcept override;
#endif
  void notifyShape(char const* name, nvinfer1::Dims const& dims) noexcept override;

  void Reset();
  const nvinfer1::Dims& shape() const { return shape_; }
  /// Returns the memory that the engine writes, to recognize that it has moved.
  const void* memory() const { return on_host_ ? host_.data() : device_.data(); }
  /// Returns why memory was refused; empty if it was not.
  const std::string& failure() const { return failure_; }
  /// Sets `data` to `size` bytes of the output. Starts to copy them to the host unless `stay`, and
  /// sets `on_gpu` if they are in the memory of the GPU. INTERNAL if the engine did not ask for so
  /// much memory.
  Error Fetch(uint64_t size, bool stay, CudaStream* stream, const char** data, bool* on_gpu);

 private:
  void* Allocate(uint64_t size) noexcept;

  const bool on_host_;
  CudaBuffer device_;
  CudaBuffer host_;
  nvinfer1::Dims shape_ = {};
  std::string failure_;
};

/// An input of a run.
struct RunInput {
  std::span<const int64_t> shape;
  const char* data = nullptr;
  uint64_t size = 0;
  /// Whether `data` is in the memory of the engine's GPU, where it is complete.
  bool on_gpu = false;
};

/// An execution context for one profile, with its buffers and CUDA graphs. Each graph has its own
/// execution context. Nothing else uses that context: giving it other shapes may change what the
/// graph reads. The contexts of the graphs share their memory. Not thread-safe. The engine's GPU
/// must be the current one for all functions and the destructor.
class Execution {
 public:
  struct Options {
    ContextMemory memory = ContextMemory::kStatic;
    /// Whether only one thread at a time launches work on the GPU.
    bool one_launcher = false;
  };

  /// `engine`, `gpu` and `streams` must outlive the execution.
  static Error Create(const Engine* engine, Gpu* gpu, Streams* streams, int profile,
                      const Options& options, std::unique_ptr<Execution>* execution);

  /// Captures a graph for each of the ranges. A graph that cannot be captured is left out, with a
  /// warning in the log.
  Error CaptureGraphs(std::vector<GraphRange> ranges);

  /// Runs the engine and waits for the outputs with these indices. `numbers` are the shapes of the
  /// inputs or, for shape tensors, their values. The results point into this object and are valid
  /// until the next run.
  Error Run(std::span<const RunInput> inputs, std::span<const std::vector<int64_t>> numbers,
            std::span<const size_t> outputs, std::span<framework::OutputTensor> results);

 private:
  using Context = nvinfer1::IExecutionContext;

  /// A captured graph and what it depends on.
  struct Captured {
    std::unique_ptr<Context> context;
    CudaGraph graph;  // of the context, and so destroyed before it
    /// The addresses of inputs and outputs that it uses.
    std::vector<const void*> memory;
    std::vector<nvinfer1::Dims> output_shapes;
  };

  Execution(const Engine* engine, Gpu* gpu, Streams* streams, int profile, const Options& options);

  /// Makes a context and selects the profile.
  Error NewContext(ContextMemory memory, std::unique_ptr<Context>* context);
  Error CopyInput(size_t input, const RunInput& given);
  /// Whether the engine may read the input where it is.
  bool InPlace(size_t input, const RunInput& given) const;
  /// Tells a context the shapes and addresses of the inputs.
  Error SetInputs(std::span<const RunInput> inputs, Context* context) const;
  Error Enqueue(Context* context);
  /// After a failure the context may have work in the streams.
  Error Capture(const GraphRange& range, Captured* captured);
  /// Sets the inputs of a context and starts a run.
  Error Start(std::span<const RunInput> inputs, Context* context);
  /// Returns the graph for the inputs, or null, and sets the shapes of the outputs of such a run.
  Error FindGraph(std::span<const RunInput> inputs, std::span<const std::vector<int64_t>> numbers,
                  const Captured** graph);
  /// Sets asked_shapes_ for inputs of these shapes. Returns whether the graph computes the outputs
  /// in such a way that each begins with what was asked for.
  Error FindAskedShapes(std::span<const RunInput> inputs, const Captured& graph, bool* serves);
  Error Fetch(std::span<const size_t> outputs, const Captured* graph,
              std::span<framework::OutputTensor> results);
  Error FetchOne(size_t output, const nvinfer1::Dims& dims, framework::OutputTensor* result);
  std::vector<const void*> Memory() const;
  Error Wrong(const std::string& what) const;

  const Engine& engine_;
  Gpu* const gpu_;
  Streams& streams_;
  const int profile_;
  const Options options_;
  std::unique_ptr<Context> context_;
  std::vector<CudaBuffer> inputs_;
  std::vector<std::unique_ptr<OutputBuffer>> outputs_;
  /// What the contexts of the graphs share.
  CudaBuffer graph_memory_;
  std::vector<GraphRange> ranges_;
  std::vector<std::unique_ptr<Captured>> graphs_;  // for each of ranges_
  /// The shapes of the outputs of a run with a graph.
  std::vector<nvinfer1::Dims> asked_shapes_;
};

}  // namespace nereid::tensorrt
