// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/buffer_attributes.h"
#include "request/request_inputs.h"
#include "request/state_layout.h"
#include "request/state_memory.h"
#include "request/zero_block.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::request {

class SequenceStates;

/// A state that a backend writes during an execution (TRITONBACKEND_State). Owned by its
/// SequenceStates; valid until those are committed, discarded or reset.
struct OutputState {
  SequenceStates* owner = nullptr;
  size_t index = 0;     // in StateLayout::entries()
  tensor::Shape shape;  // with the batch dimension
  char* data = nullptr;
  size_t size = 0;
  bool has_buffer = false;  // set by Buffer, also for a state of zero bytes
  bool updated = false;
  bool counts = false;  // this is the last update of its state
  StateMemory owned;    // empty if `data` is the input's own memory
  StatePlace place;     // of `data`
  std::unique_ptr<memory::BufferAttributes> attributes;  // created when a plug-in asks
};

/// The value of a state outside of the server that computed it.
struct SavedState {
  std::string name;  // the state's output name
  tensor::DataType data_type = tensor::DataType::kInvalid;
  tensor::Shape shape;  // with the batch dimension
  std::string bytes;
};

/// The states of one sequence, or of one slot that sequences use one after the other. What a
/// backend writes becomes the input of the next request when the backend has released the present
/// request without an error. A failed execution changes nothing, except for a state with
/// use_same_buffer_for_input_output, whose old bytes are overwritten. A sequence never sees the
/// bytes of another one. Values begin in host memory, and stay in GPU memory once a backend has
/// written them there. Not thread-safe; at most one request of a sequence is being executed.
class SequenceStates {
 public:
  explicit SequenceStates(std::shared_ptr<const StateLayout> layout);
  SequenceStates(const SequenceStates&) = delete;
  SequenceStates& operator=(const SequenceStates&) = delete;

  /// Returns states for a request that only fills a row of a batch: zeros in the present shapes of
  /// `reference`. Returns UNAVAILABLE when memory is short.
  static base::Result<std::shared_ptr<SequenceStates>> MakeDummy(const SequenceStates& reference,
                                                                 ZeroBlock& zeros);

  /// Sets the initial values, because a sequence begins. Returns UNAVAILABLE when memory is short;
  /// the states are unusable then until a Reset succeeds.
  base::Status Reset();
  /// Returns whether the states have values.
  bool is_set() const { return is_set_; }

  /// The present value of a state. Its bytes do not change before Commit or Reset.
  struct CurrentValue {
    const config::StateSpec& spec;
    const tensor::Shape& shape;
    const char* data;
    size_t size;
    StatePlace place;  // of the bytes
  };
  /// Returns the number of states in the layout.
  size_t size() const { return values_.size(); }
  /// Returns the present value of the state with this index in the layout.
  CurrentValue value(size_t index) const {
    const Value& value = values_[index];
    return {layout_->entries()[index].spec, value.shape, value.data(), value.size,
            value.memory.place()};
  }
  /// Returns the present shape of the state with this index in the layout.
  const tensor::Shape& shape(size_t index) const { return values_[index].shape; }
  /// Adds the present values to a request's inputs, as inputs of the server. They are views: the
  /// bytes stay as they are until the states are committed or reset.
  void AddTo(RequestInputs& inputs) const;
  /// Returns whether all states have the same shapes as those of `other`.
  bool HasShapesOf(const SequenceStates& other) const;

  /// Returns copies of the present values, which must be set. Waits for a GPU that has some of
  /// them: must not be called on an event loop. Returns the errors of such copies.
  base::Result<std::vector<SavedState>> Save() const;
  /// Sets the values to those that another server has saved, in host memory. Returns
  /// INVALID_ARGUMENT if the model has other states than those, by name, type or shape, or if bytes
  /// do not fit, and UNAVAILABLE when memory is short; the states are unusable then.
  base::Status Restore(const std::vector<SavedState>& saved);

  // ---- For the backend, while it executes a request ----

  /// Creates a new value for the state with the output name `name`. Returns INTERNAL "state
  /// '<s>' is not a valid state name.", or an error with the expected type or shape. A second call
  /// for a state gives another object; the one that is updated last counts.
  base::Result<OutputState*> NewOutput(std::string_view name, tensor::DataType type,
                                       tensor::Shape shape);
  /// Returns memory of `size` bytes for the new value: without bytes of other sequences, or the
  /// input's own memory with use_same_buffer_for_input_output. `preferred` is where the backend
  /// wants it; OutputState::place tells where it is. It is in host memory for strings, which must
  /// be checked, on a thread that must not wait for a GPU, and when the GPU has no memory. Returns
  /// INTERNAL if the shape requires another size, and UNAVAILABLE when memory is short. A
  /// second call with the same size returns the same memory.
  base::Result<void*> Buffer(OutputState* state, size_t size, StatePlace preferred = {});
  /// Returns where the memory is. INTERNAL before Buffer.
  base::Result<memory::BufferAttributes*> Attributes(OutputState* state) const;
  /// Marks the new value as complete: it becomes the next request's input if this request succeeds.
  /// Returns INTERNAL without a buffer, for a second call, and for malformed BYTES.
  base::Status Update(OutputState* state);

  /// Makes the updated values current, because the request succeeded. Swaps buffers without
  /// copying.
  void Commit();
  /// Drops the new values, because the request failed.
  void Discard();

 private:
  struct Value {
    tensor::Shape shape;
    StateMemory memory;                 // the value; holds only bytes of this sequence, or zeros
    size_t size = 0;                    // bytes of the memory in use
    StateMemory spare;                  // memory for the next output
    bool spare_is_foreign = false;      // the spare may hold bytes of the slot's previous sequence
    std::shared_ptr<const char> zeros;  // instead of the memory, in a dummy

    const char* data() const { return zeros != nullptr ? zeros.get() : memory.data(); }
  };

  const StateLayout::Entry& EntryOf(const OutputState& state) const {
    return layout_->entries()[state.index];
  }
  base::Status OutOfMemory(size_t index, size_t size) const;
  base::Status SetInitial(size_t index);
  base::Status RestoreOne(size_t index, const SavedState& saved);
  /// Returns cleared memory on the GPU, if it has some, or in host memory. `ahead` is the size that
  /// is useful where growing costs a copy.
  base::Result<StateMemory> NewMemory(size_t index, size_t size, size_t ahead,
                                      StatePlace preferred) const;
  /// Returns the spare of the value if it suits, else new memory.
  base::Result<StateMemory> TakeMemory(size_t index, size_t size, size_t ahead,
                                       StatePlace preferred);
  base::Status TakeBuffer(OutputState* state, size_t size, StatePlace preferred);
  base::Status ShareBuffer(OutputState* state, size_t size, StatePlace preferred);

  const std::shared_ptr<const StateLayout> layout_;
  std::vector<Value> values_;  // in the order of the layout
  std::vector<std::unique_ptr<OutputState>> outputs_;
  bool is_set_ = false;
};

}  // namespace nereid::request
