// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

#include <memory>
#include <string>
#include <vector>

#include "framework/signature.h"
#include "tensorrt/gpu.h"
#include "tensorrt/library.h"
#include "tensorrt/profile.h"

namespace nereid::tensorrt {

/// How the elements of a tensor are arranged in memory.
struct TensorLayout {
  /// Whether they are in row-major order without gaps, as the inference protocol has them.
  bool linear = true;
  /// TensorRT's description of a layout that is not linear.
  std::string text = {};
  /// The dimension whose size is rounded up to a multiple of `components`; -1 if there is none.
  int vectorized_dim = -1;
  int components = 1;
  /// Whether the size of the tensor in memory is unknown, because rows have gaps (formats of DLA).
  bool gaps = false;

  bool operator==(const TensorLayout&) const = default;
  /// Returns the dimensions with the rounded size: what a tensor of this shape takes in memory.
  std::vector<int64_t> Padded(std::span<const int64_t> shape) const;
};

/// An input or output of an engine.
struct EngineTensor {
  framework::TensorSignature signature;
  bool input = false;
  /// Whether its values are dimensions, which the engine needs on the host.
  bool shape_tensor = false;
  /// Whether it is in CPU memory, for this or another reason.
  bool on_host = false;
  TensorLayout layout;

  /// Returns the number of bytes of a tensor of this shape in memory; -1 if it is too large.
  int64_t ByteSize(std::span<const int64_t> shape) const;
};

/// What an engine is read from, and how.
struct EngineSource {
  std::string path;
  /// Whether the plan may contain code for the host (setting version-compatible).
  bool host_code = false;
  /// The core of the deep learning accelerator; -1 for the GPU.
  int dla_core = -1;
};

/// How execution contexts get their memory.
enum class ContextMemory {
  /// For all profiles when the context is made.
  kStatic,
  /// For the profile that is selected.
  kOnProfileChange,
  /// From the caller, with LendMemory: several contexts that never run at the same time share it.
  kLent,
};

/// An engine that TensorRT has read from a plan file. Its GPU must be the current one for every
/// function and the destructor. Thread-safe.
class Engine {
 public:
  /// Errors contain the path and TensorRT's last error.
  static Error Read(const TensorRtLibrary& library, const EngineSource& source,
                    std::unique_ptr<Engine>* engine);

  /// The inputs (outputs) in the engine's order.
  const std::vector<EngineTensor>& inputs() const { return inputs_; }
  const std::vector<EngineTensor>& outputs() const { return outputs_; }
  int profile_count() const { return engine_->getNbOptimizationProfiles(); }
  /// Reads the ranges of a profile, in the order of inputs(). INTERNAL if the engine does not
  /// provide them, or if they are impossible.
  Error ReadProfile(int index, Profile* profile) const;
  /// Fails if the GPU has too little memory, or if this TensorRT lacks `memory`.
  Error NewContext(ContextMemory memory,
                   std::unique_ptr<nvinfer1::IExecutionContext>* context) const;
  /// Returns whether a context may select a profile that another one may have selected.
  bool LetsContextsShare(Gpu* gpu, int profile) const;
  /// Returns how much memory a context of kLent needs for a profile.
  size_t LentSize(int profile) const;
  /// Gives a context of kLent its memory, which must outlive it.
  static void LendMemory(void* memory, size_t size, nvinfer1::IExecutionContext* context);

 private:
  Error Describe();
  Error DescribeOne(const char* name);
  TensorLayout ReadLayout(const char* name, int profile) const;
  Error ReadRange(const EngineTensor& input, int profile, nvinfer1::OptProfileSelector which,
                  std::vector<int64_t>* numbers) const;
  bool ReadValues(const EngineTensor& input, int profile, nvinfer1::OptProfileSelector which,
                  std::vector<int64_t>* numbers) const;

  mutable base::Mutex making_;  // guards no member: TensorRT makes one context at a time
  // The order of the two members matters: the engine must be destroyed before its runtime.
  std::unique_ptr<nvinfer1::IRuntime> runtime_;
  std::unique_ptr<nvinfer1::ICudaEngine> engine_;
  std::vector<EngineTensor> inputs_;
  std::vector<EngineTensor> outputs_;
};

}  // namespace nereid::tensorrt
