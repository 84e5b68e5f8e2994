// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace inference {
class ModelSequenceBatching;
}

namespace nereid::config {

/// What a control tensor tells the model about a request's place in its sequence.
enum class ControlKind { kStart, kReady, kEnd, kCorrelationId };

/// A tensor that the server adds to every request of a sequence model.
struct ControlSpec {
  ControlKind kind = ControlKind::kStart;
  std::string name;  // of the tensor
  tensor::DataType data_type = tensor::DataType::kInvalid;
  /// START, READY and END only: one element of `data_type` for "false" and one for "true".
  std::string false_bytes;
  std::string true_bytes;
};

/// The first value of a state.
struct InitialStateSpec {
  std::string name;
  tensor::DataType data_type = tensor::DataType::kInvalid;
  tensor::Shape dims;     // without the batch dimension
  std::string data_file;  // below initial_state/ in the model's directory; empty for zeros
};

/// A tensor that the server keeps from one request of a sequence to the next.
struct StateSpec {
  std::string input_name;
  std::string output_name;
  tensor::DataType data_type = tensor::DataType::kInvalid;
  tensor::Shape dims;  // without the batch dimension; tensor::kVariableDim for any size
  std::optional<InitialStateSpec> initial;
  bool same_buffer = false;      // use_same_buffer_for_input_output
  bool growable_memory = false;  // use_growable_memory
};

/// Each sequence keeps one slot of a batch (and one instance) until it ends.
struct DirectStrategy {
  uint64_t max_queue_delay_us = 0;
  float minimum_slot_utilization = 0;
};

/// Requests of different sequences are batched dynamically, oldest first.
struct OldestStrategy {
  int32_t max_candidate_sequences = 0;  // 0 means max_batch_size
  std::vector<int32_t> preferred_batch_sizes;
  uint64_t max_queue_delay_us = 0;
  bool preserve_ordering = false;
};

struct SequenceBatchingOptions {
  uint64_t max_sequence_idle_us = 1'000'000;
  std::variant<DirectStrategy, OldestStrategy> strategy;
  std::vector<ControlSpec> controls;
  std::vector<StateSpec> states;
  bool iterative = false;
};

/// Converts the protobuf message of a configuration that is completed and validated.
SequenceBatchingOptions ReadSequenceBatching(const inference::ModelSequenceBatching& proto);

}  // namespace nereid::config
