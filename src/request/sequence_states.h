// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/buffer_attributes.h"
#include "memory/host_buffer.h"
#include "request/state_layout.h"
#include "request/zero_block.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::request {

class InferenceRequest;
class SequenceStates;

/// One state that a backend writes during an execution (TRITONBACKEND_State). Belongs to its
/// SequenceStates, and lives until those are committed, discarded or reset.
struct OutputState {
  SequenceStates* owner = nullptr;
  size_t index = 0;     // in the layout
  tensor::Shape shape;  // with the batch dimension
  char* data = nullptr;
  size_t size = 0;
  bool has_buffer = false;  // even a state of no bytes asks for one, once
  bool updated = false;
  bool counts = false;                                   // it is the state's last update
  memory::HostBuffer owned;                              // empty where `data` is the input's own
  std::unique_ptr<memory::BufferAttributes> attributes;  // made when a plug-in asks
};

/// The states of one sequence, or of one slot that sequences share one after the other. What a
/// backend writes counts for the next request from the moment when the backend has given the
/// present one back without an error: a failed execution leaves everything as it was (but for a
/// state with one buffer for input and output, whose old bytes are gone). The bytes are never
/// another sequence's. Not thread-safe: at most one request of a sequence is being executed.
class SequenceStates {
 public:
  explicit SequenceStates(std::shared_ptr<const StateLayout> layout);
  SequenceStates(const SequenceStates&) = delete;
  SequenceStates& operator=(const SequenceStates&) = delete;

  /// For a request that only fills a place of a batch: zeros of the shapes that `reference` has
  /// now. UNAVAILABLE when memory is short.
  static base::Result<std::shared_ptr<SequenceStates>> MakeDummy(const SequenceStates& reference,
                                                                 ZeroBlock& zeros);

  /// Back to the initial values: a sequence begins. UNAVAILABLE when memory is short; the states
  /// are not usable then until a Reset succeeds.
  base::Status Reset();
  /// Whether the states have values.
  bool is_set() const { return is_set_; }

  /// Adds the states to the request as inputs that the server adds. The bytes stay as they are
  /// until Commit or Reset.
  void AddInputsTo(InferenceRequest& request) const;
  /// The shapes as they are now, in the order of the layout.
  const tensor::Shape& shape(size_t index) const { return values_[index].shape; }
  /// Whether requests with these states can be executed together.
  bool HasShapesOf(const SequenceStates& other) const;

  // ---- For the backend, while it executes a request ----

  /// A new value for the state whose output has this name. INVALID_ARGUMENT "state '<s>' is not a
  /// valid state name.", or naming the type or the shape that was expected. Asking again for a
  /// state gives another object; the one that is updated last counts.
  base::Result<OutputState*> NewOutput(std::string_view name, tensor::DataType type,
                                       tensor::Shape shape);
  /// Memory of `size` bytes for it: no bytes of another sequence, or with same_buffer the input's
  /// own. INVALID_ARGUMENT if the shape takes another size, UNAVAILABLE when memory is short. Asked
  /// again for the same size it gives the same.
  base::Result<void*> Buffer(OutputState* state, size_t size);
  /// Where the memory is. INVALID_ARGUMENT before Buffer.
  base::Result<memory::BufferAttributes*> Attributes(OutputState* state) const;
  /// It is complete: it becomes the next request's input when this request ends well.
  /// INVALID_ARGUMENT without a buffer, for a second time, or for BYTES that are none.
  base::Status Update(OutputState* state);

  /// The request ended well: what was updated becomes the value. Swaps, does not copy.
  void Commit();
  /// The request failed.
  void Discard();

 private:
  struct Value {
    tensor::Shape shape;
    memory::HostBuffer buffer;          // all of it this sequence's own bytes, or zeros
    size_t size = 0;                    // bytes of the buffer that count
    memory::HostBuffer spare;           // what the next output is written to; so too, unless …
    bool spare_is_foreign = false;      // … it was written by the slot's previous sequence
    std::shared_ptr<const char> zeros;  // in place of the buffer: a dummy's

    const char* data() const { return zeros != nullptr ? zeros.get() : buffer.data(); }
  };

  const StateLayout::Entry& EntryOf(const OutputState& state) const {
    return layout_->entries()[state.index];
  }
  base::Status OutOfMemory(size_t index, size_t size) const;
  base::Status SetInitial(size_t index);
  base::Status TakeBuffer(OutputState* state, size_t size);
  base::Status ShareBuffer(OutputState* state, size_t size);

  const std::shared_ptr<const StateLayout> layout_;
  std::vector<Value> values_;  // in the order of the layout
  std::vector<std::unique_ptr<OutputState>> outputs_;
  bool is_set_ = false;
};

}  // namespace nereid::request
