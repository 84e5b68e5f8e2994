// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/sequence_batching.h"
#include "memory/buffer_attributes.h"
#include "memory/host_buffer.h"
#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace nereid::request {

class InferenceRequest;

/// The states of a model: what its configuration says, and the bytes that each begins with. Made
/// when the model is loaded; immutable.
class StateLayout {
 public:
  struct Entry {
    config::StateSpec spec;
    tensor::Shape initial_shape;  // with the batch dimension 1 if the model batches
    std::string initial_bytes;    // of that shape; empty for zeros
    size_t initial_size = 0;      // bytes of that shape
  };
  /// Reads the files of the initial states from `model_directory`/initial_state. INVALID_ARGUMENT
  /// naming the state, the file and the sizes where one does not fit.
  static base::Result<std::shared_ptr<const StateLayout>> Create(
      const std::string& model_name, const std::vector<config::StateSpec>& states, bool batching,
      const std::string& model_directory);

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// One state that a backend writes during an execution (TRITONBACKEND_State). Belongs to the
/// SequenceStates.
struct OutputState {
  std::string name;  // the output's
  tensor::DataType type = tensor::DataType::kInvalid;
  tensor::Shape shape;  // with the batch dimension
  memory::HostBuffer buffer;
  size_t size = 0;
  bool updated = false;
  std::unique_ptr<memory::BufferAttributes> attributes;  // made when a plug-in asks
};

/// The states of one sequence. What a backend writes counts for the next request from the moment
/// when the backend has given the present one back without an error: a failed execution leaves
/// everything as it was. The bytes are never another sequence's. Not thread-safe: at most one
/// request of a sequence is being executed.
class SequenceStates {
 public:
  explicit SequenceStates(std::shared_ptr<const StateLayout> layout);

  /// Back to the initial values: a sequence begins. UNAVAILABLE when memory is short.
  base::Status Reset();
  /// Adds the states to the request as inputs that the server adds. The bytes stay as they are
  /// until Commit or Reset.
  void AddInputsTo(InferenceRequest& request) const;
  /// The shapes as they are now, in the order of the layout.
  const tensor::Shape& shape(size_t index) const;

  // ---- For the backend, while it executes a request ----

  /// A new value for the state whose output has this name. INVALID_ARGUMENT "state '<s>' is not a
  /// valid state name." The pointer is valid until Commit or Discard.
  base::Result<OutputState*> NewOutput(std::string_view name, tensor::DataType type,
                                       tensor::Shape shape);
  /// Memory of `size` bytes for it: zeros, or with same_buffer the input's own.
  base::Result<void*> Buffer(OutputState* state, size_t size);
  /// It is complete: it becomes the next request's input when this request ends well.
  base::Status Update(OutputState* state);

  /// The request ended well: what was updated becomes the value. Swaps, does not copy.
  void Commit();
  /// The request failed.
  void Discard();

 private:
  struct Value {
    tensor::Shape shape;
    memory::HostBuffer buffer;
    size_t size = 0;
  };

  const std::shared_ptr<const StateLayout> layout_;
  std::vector<Value> values_;  // in the order of the layout
  std::vector<std::unique_ptr<OutputState>> outputs_;
};

}  // namespace nereid::request
