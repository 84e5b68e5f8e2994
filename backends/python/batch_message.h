// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "nereid/backend/input.h"
#include "python/copies.h"
#include "python/messages.h"
#include "python/segments.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// The memory of a batch's tensors.
struct BatchMemory {
  /// The segments of the worker that gets the message.
  Segments* segments = nullptr;
  /// Where inputs of the model are received; may be null.
  std::shared_ptr<InputArena> arena;
  /// Whether the model takes inputs in GPU memory. Otherwise they are copied to host memory.
  bool gpu_inputs = false;
};

/// Writes requests to a kExecute message. Their small tensors are in the message, those that were
/// received in the arena of the model stay there, and the others are copied into one segment, or
/// into one on each GPU that has some. The memory is kept for the next batch. Used by one thread.
class BatchMessage {
 public:
  /// Begins a message. `released` are segments of the worker that the server has read.
  void Begin(uint64_t batch, const std::vector<uint32_t>& released, BatchMemory memory);

  /// Adds a request. If it fails, the request is not part of the message.
  backend::Error Add(uint64_t number, TRITONBACKEND_Request* request);

  /// Copies the tensors of all requests. If it fails, the message cannot be sent, and the caller
  /// calls FreeSegments().
  backend::Error Finish();

  /// Gives the segments back to the pool instead of passing them to the worker.
  void FreeSegments();

  const std::vector<char>& message() const { return message_; }
  /// The segments with the large tensors.
  const std::vector<TakenSegment>& segments() const { return segments_; }

 private:
  /// A tensor whose place in the message is known and whose content is not yet there.
  struct Placed {
    backend::Input input;
    uint64_t offset = 0;
    bool in_message = false;
    /// The position of the segment's id in the message. The offset follows it.
    size_t segment_field = 0;
    /// The GPU in whose memory the worker gets the tensor; -1 for host memory.
    int gpu = -1;
    std::shared_ptr<SharedMemory> memory = nullptr;
  };

  backend::Error AddInput(const backend::Input& input);
  /// Writes a tensor without its content. Returns the position of the segment's id in the message.
  size_t Describe(const backend::Input& input, uint32_t segment, uint64_t offset);
  /// Finds out whether the input is in the arena. If it is, and the worker may have it, sets the
  /// number of its segment, and where it begins in that.
  backend::Error FindBlock(const backend::Input& input, uint32_t* segment, uint64_t* offset);
  /// Finds out where the worker gets an input: returns the GPU that has the whole of it, if the
  /// model takes it there, else -1.
  backend::Error FindGpu(const backend::Input& input, int* gpu) const;
  /// Reserves room in host memory for a tensor outside of the message.
  backend::Error PlaceOnHost(Placed* tensor);
  /// Takes the segments on GPUs. Tensors whose GPU has no room are placed in host memory.
  backend::Error TakeOnGpus();
  backend::Error CopyTo(Place place, const backend::Input& input, Copies* copies) const;
  /// Gives back the last segments, all but the first `count`.
  void FreeSegmentsBehind(size_t count);
  backend::Error WriteFixed(uint64_t number, TRITONBACKEND_Request* request, uint32_t inputs);
  backend::Error ReadParameters(TRITONBACKEND_Request* request);
  backend::Error ReadOutputs(TRITONBACKEND_Request* request);

  std::vector<char> message_;
  std::vector<Placed> placed_;
  std::vector<TakenSegment> segments_;
  BatchMemory memory_;
  bool has_gpu_tensors_ = false;
  std::string parameters_;
  std::string outputs_;
  size_t count_field_ = 0;
  uint32_t count_ = 0;
  uint64_t message_data_ = 0;
  uint64_t segment_data_ = 0;
};

/// The alignment of a tensor's content in messages and segments, in bytes.
inline constexpr uint64_t kTensorAlignment = 64;

}  // namespace nereid::python
