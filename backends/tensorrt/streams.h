// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tensorrt/cuda.h"

namespace nereid::tensorrt {

/// The streams of an instance. Copies have their own, so that those of one instance overlap with
/// the computation of another one.
class Streams {
 public:
  explicit Streams(Gpu* gpu) : gpu_(gpu) {}

  /// `busy_wait`: the thread that waits for a run uses the CPU. `output_stream`: outputs are copied
  /// in a stream of their own instead of the one that computes. `priority`: see CudaStream.
  Error Create(bool busy_wait, bool output_stream, int priority);

  CudaStream& inputs() { return inputs_; }
  CudaStream& compute() { return compute_; }
  CudaStream& outputs() { return own_outputs_ ? outputs_ : compute_; }
  /// Lets the computation wait for the copies of inputs.
  Error InputsAreCopied();
  /// Lets the copies of outputs wait for the computation.
  Error ComputationIsQueued();
  /// Waits for the copies of outputs.
  Error Wait();
  /// Waits for all work after a failure, so that nothing uses the memory of the requests any more.
  /// Returns the error of a GPU that cannot be used any more.
  Error Settle();

 private:
  Gpu* const gpu_;
  bool own_outputs_ = false;
  CudaStream inputs_;
  CudaStream compute_;
  CudaStream outputs_;
  CudaEvent copied_;
  CudaEvent computed_;
  CudaEvent done_;
};

}  // namespace nereid::tensorrt
