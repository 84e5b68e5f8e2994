// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "nereid/backend/error.h"
#include "python/inner_call.h"
#include "python/segments.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// The memory of one output of a call to another model: a segment that is then passed to the
/// worker, or memory of the server for a small output. Used by one thread at a time.
class InnerOutput {
 public:
  explicit InnerOutput(SegmentPool* pool) : pool_(*pool) {}
  InnerOutput(const InnerOutput&) = delete;
  InnerOutput& operator=(const InnerOutput&) = delete;
  /// Frees the segment unless it was passed.
  ~InnerOutput();

  /// Takes memory of a GPU, or host memory if `gpu` is -1 or that GPU has no room.
  backend::Error Allocate(uint64_t size, int gpu);
  char* data();
  /// The ordinal of the GPU whose memory it is; -1 for host memory.
  int gpu() const { return segment_.memory == nullptr ? -1 : segment_.memory->gpu(); }
  const TakenSegment& segment() const { return segment_; }
  /// The worker owns the segment from here on.
  void MarkPassed() { passed_ = true; }

 private:
  SegmentPool& pool_;
  TakenSegment segment_;
  std::vector<char> small_;
  bool passed_ = false;
};

/// Sends a response of the server to the worker. `response` may be null if it is the final one. If
/// the worker does not take it, the call is closed.
void PassResponse(TRITONSERVER_InferenceResponse* response, bool final, InnerCall* call);

/// Sends an error as the final response.
void PassError(const InnerCall& call, const backend::Error& error);

}  // namespace nereid::python
