// SPDX-License-Identifier: Apache-2.0
#include "schedule/dynamic/batch_compatibility.h"

#include <algorithm>
#include <cstring>

#include "request/sequence_states.h"

namespace nereid::schedule {
namespace {

bool EqualBeyondBatch(const tensor::Shape& a, const tensor::Shape& b) {
  return a.size() == b.size() && (a.empty() || std::equal(a.begin() + 1, a.end(), b.begin() + 1));
}

// Compares host memory only: contents in GPU memory or in several pieces count as different.
bool EqualContent(const request::Input& a, const request::Input& b) {
  if (a.pieces.size() != 1 || b.pieces.size() != 1) return false;
  const request::InputPiece &x = a.pieces[0], &y = b.pieces[0];
  if (x.memory_type == memory::MemoryType::kGpu || y.memory_type == memory::MemoryType::kGpu) {
    return false;
  }
  return x.size == y.size && (x.size == 0 || std::memcmp(x.data, y.data, x.size) == 0);
}

}  // namespace

BatchCompatibility::BatchCompatibility(const config::ModelConfig& config) {
  for (const config::TensorSpec& input : config.inputs()) {
    if (input.optional) has_optional_inputs_ = true;
    const bool variable =
        std::find(input.dims.begin(), input.dims.end(), tensor::kVariableDim) != input.dims.end();
    if (input.is_shape_tensor || (variable && !input.allow_ragged_batch)) {
      compared_inputs_.push_back({input.name, input.is_shape_tensor});
    }
  }
  if (!config.sequence_batching()) return;
  const std::vector<config::StateSpec>& states = config.sequence_batching()->states;
  for (size_t i = 0; i < states.size(); ++i) {
    tensor::Shape shape = states[i].dims;
    if (std::find(shape.begin(), shape.end(), tensor::kVariableDim) == shape.end()) continue;
    // A state that is not set yet begins with 1 in each variable dimension.
    std::replace(shape.begin(), shape.end(), tensor::kVariableDim, int64_t{1});
    if (config.max_batch_size() > 0) shape.insert(shape.begin(), 1);
    compared_states_.push_back({i, std::move(shape)});
  }
}

const tensor::Shape& BatchCompatibility::ShapeOf(const ComparedState& state,
                                                 const request::InferenceRequest& request) {
  const bool begins = (request.flags & request::kFlagSequenceStart) != 0;
  if (begins || request.states == nullptr || !request.states->is_set()) return state.initial_shape;
  return request.states->shape(state.index);
}

bool BatchCompatibility::MayShareBatch(const request::InferenceRequest& a,
                                       const request::InferenceRequest& b) const {
  if (has_optional_inputs_) {
    if (a.inputs().size() != b.inputs().size()) return false;
    for (const request::Input& input : a.inputs()) {
      if (b.inputs().Find(input.name) == nullptr) return false;
    }
  }
  for (const ComparedInput& compared : compared_inputs_) {
    const request::Input* x = a.inputs().Find(compared.name);
    const request::Input* y = b.inputs().Find(compared.name);
    if (x == nullptr || y == nullptr) {
      if (x != y) return false;
      continue;
    }
    if (compared.is_shape_tensor) {
      if (x->shape != y->shape || !EqualContent(*x, *y)) return false;
    } else if (!EqualBeyondBatch(x->shape, y->shape)) {
      return false;
    }
  }
  return std::all_of(compared_states_.begin(), compared_states_.end(),
                     [&](const auto& state) { return ShapeOf(state, a) == ShapeOf(state, b); });
}

}  // namespace nereid::schedule
