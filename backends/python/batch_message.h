// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nereid/backend/error.h"
#include "nereid/backend/input.h"
#include "python/messages.h"
#include "python/segments.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// Writes requests to a kExecute message. Their small tensors are in the message, those that were
/// received in the arena of the model stay there, and the others are copied into one segment. The
/// memory is kept for the next batch. Used by one thread.
class BatchMessage {
 public:
  /// Begins a message. `released` are segments of the worker that the server has read. `pool` has
  /// the segments of the worker that gets the message. `arena` may be null.
  void Begin(uint64_t batch, const std::vector<uint32_t>& released, SegmentPool* pool,
             std::shared_ptr<InputArena> arena);

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
    /// The position of the segment's id in the message.
    size_t segment_field = 0;
  };

  backend::Error AddInput(const backend::Input& input);
  /// Writes a tensor without its content. Returns the position of the segment's id in the message.
  size_t Describe(const backend::Input& input, uint32_t segment, uint64_t offset);
  /// Finds out whether the input is in the arena. If it is, and the worker may have it, sets the
  /// number of its segment, and where it begins in that.
  backend::Error FindBlock(const backend::Input& input, uint32_t* segment, uint64_t* offset);
  /// Gives back the last segments, all but the first `count`.
  void FreeSegmentsBehind(size_t count);
  backend::Error WriteFixed(uint64_t number, TRITONBACKEND_Request* request, uint32_t inputs);
  backend::Error ReadParameters(TRITONBACKEND_Request* request);
  backend::Error ReadOutputs(TRITONBACKEND_Request* request);

  std::vector<char> message_;
  std::vector<Placed> placed_;
  std::vector<TakenSegment> segments_;
  SegmentPool* pool_ = nullptr;
  std::shared_ptr<InputArena> arena_;
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
