// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "nereid/backend/error.h"
#include "python/copies.h"
#include "python/messages.h"
#include "python/segments.h"

namespace nereid::python {

/// The content of a tensor in a message of a worker, as long as `owner`.
struct TensorContent {
  const char* data = nullptr;
  /// The ordinal of the GPU whose memory it is in; -1 for host memory.
  int gpu = -1;
  std::shared_ptr<const void> owner;
};

/// The content of the tensors of one message of a worker: in the message itself, and in segments,
/// which belong to the server until the object ends. Responses may refer to segments beyond that.
/// Not thread-safe.
class SegmentUses {
 public:
  /// `data` is the content that is in the message. Both arguments outlive the object. Only what the
  /// worker cannot change without breaking the protocol may be lent: of a response sender's message
  /// that does not hold for the server's segments, so `may_lend_inputs` is false.
  SegmentUses(Segments* segments, Bytes data, bool may_lend_inputs)
      : segments_(*segments),
        data_(data),
        may_lend_inputs_(may_lend_inputs),
        copies_(&segments->streams) {}
  SegmentUses(const SegmentUses&) = delete;
  SegmentUses& operator=(const SegmentUses&) = delete;
  /// Tells the worker that the segments are read, except those that are lent.
  ~SegmentUses();

  /// Takes over the segments in which tensors are.
  void Add(const std::vector<WireTensor>& tensors);

  /// Checks that a tensor, whose segment was added, is in the message or in the segment.
  /// INTERNAL if it is not.
  backend::Error Check(const WireTensor& tensor) const;

  /// Returns the ordinal of the GPU in whose memory a tensor is, whose segment was added; -1 if it
  /// is in host memory.
  int GpuOf(const WireTensor& tensor) const;

  /// Copies the content of a tensor, whose segment was added, to `out`. INTERNAL if it is not in
  /// the message or the segment. A copy from or to GPU memory is complete after Wait.
  backend::Error Copy(const WireTensor& tensor, Place out);

  /// Waits for copies of GPU memory. Returns the first error of one.
  backend::Error Wait() { return copies_.Wait(); }

  /// Returns the content of a tensor in GPU memory, which the worker does not use again as long as
  /// the owner lives. INTERNAL if it is not in its segment.
  backend::Error LendOnGpu(const WireTensor& tensor, TensorContent* content);

  /// Returns whether a response may refer to the content of a tensor, and returns that: the tensor
  /// is large and in host memory, and not too much is lent. Never of BYTES, which are checked
  /// before they are used.
  bool Lend(const WireTensor& tensor, TensorContent* content);

 private:
  class Loan;
  struct Use {
    uint32_t id = 0;
    SegmentMemory memory;
    /// Null until a response refers to the segment.
    std::shared_ptr<const Loan> loan;
  };

  const Use* Find(uint32_t id) const;
  /// Returns the content of a tensor in a segment; null if it is out of the segment's bounds.
  static const char* ContentIn(const Use* use, const WireTensor& tensor);
  backend::Error Find(const WireTensor& tensor, TensorContent* content) const;
  /// Makes the loan of a segment, unless it has one. `is_limited`: unless too much is lent.
  bool Lend(Use* use, bool is_limited);

  Segments& segments_;
  const Bytes data_;
  const bool may_lend_inputs_;
  std::vector<Use> uses_;
  Copies copies_;
};

}  // namespace nereid::python
