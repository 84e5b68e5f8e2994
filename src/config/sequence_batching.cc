// SPDX-License-Identifier: Apache-2.0
#include "config/sequence_batching.h"

#include "model_config.pb.h"

namespace nereid::config {
namespace {

using inference::ModelSequenceBatching;

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename Values>
void SetValues(const Values& values, tensor::DataType type, ControlSpec* spec) {
  if (values.size() != 2) return;
  spec->data_type = type;
  spec->false_bytes = BytesOf(values[0]);
  spec->true_bytes = BytesOf(values[1]);
}

ControlKind KindOf(ModelSequenceBatching::Control::Kind kind) {
  switch (kind) {
    case ModelSequenceBatching::Control::CONTROL_SEQUENCE_READY:
      return ControlKind::kReady;
    case ModelSequenceBatching::Control::CONTROL_SEQUENCE_END:
      return ControlKind::kEnd;
    case ModelSequenceBatching::Control::CONTROL_SEQUENCE_CORRID:
      return ControlKind::kCorrelationId;
    default:
      return ControlKind::kStart;
  }
}

ControlSpec ReadControl(const std::string& name, const ModelSequenceBatching::Control& control) {
  ControlSpec spec;
  spec.name = name;
  spec.kind = KindOf(control.kind());
  if (spec.kind == ControlKind::kCorrelationId) {
    spec.data_type = static_cast<tensor::DataType>(control.data_type());
    return spec;
  }
  SetValues(control.int32_false_true(), tensor::DataType::kInt32, &spec);
  SetValues(control.fp32_false_true(), tensor::DataType::kFp32, &spec);
  SetValues(control.bool_false_true(), tensor::DataType::kBool, &spec);
  return spec;
}

StateSpec ReadState(const ModelSequenceBatching::State& state) {
  StateSpec spec;
  spec.input_name = state.input_name();
  spec.output_name = state.output_name();
  spec.data_type = static_cast<tensor::DataType>(state.data_type());
  spec.dims.assign(state.dims().begin(), state.dims().end());
  spec.same_buffer = state.use_same_buffer_for_input_output();
  spec.growable_memory = state.use_growable_memory();
  if (state.initial_state_size() == 0) return spec;
  const auto& initial = state.initial_state(0);
  spec.initial = InitialStateSpec{initial.name(),
                                  static_cast<tensor::DataType>(initial.data_type()),
                                  {initial.dims().begin(), initial.dims().end()},
                                  initial.data_file()};
  return spec;
}

}  // namespace

SequenceBatchingOptions ReadSequenceBatching(const ModelSequenceBatching& proto) {
  SequenceBatchingOptions options;
  if (proto.max_sequence_idle_microseconds() != 0) {
    options.max_sequence_idle_us = proto.max_sequence_idle_microseconds();
  }
  options.iterative = proto.iterative_sequence();
  if (proto.has_oldest()) {
    const auto& oldest = proto.oldest();
    options.strategy =
        OldestStrategy{oldest.max_candidate_sequences(),
                       {oldest.preferred_batch_size().begin(), oldest.preferred_batch_size().end()},
                       oldest.max_queue_delay_microseconds(),
                       oldest.preserve_ordering()};
  } else {
    options.strategy = DirectStrategy{proto.direct().max_queue_delay_microseconds(),
                                      proto.direct().minimum_slot_utilization()};
  }
  for (const auto& input : proto.control_input()) {
    for (const auto& control : input.control()) {
      options.controls.push_back(ReadControl(input.name(), control));
    }
  }
  for (const auto& state : proto.state()) options.states.push_back(ReadState(state));
  return options;
}

}  // namespace nereid::config
