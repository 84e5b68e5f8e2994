// SPDX-License-Identifier: Apache-2.0
#include "cache/request_key.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace nereid::cache {
namespace {

using request::InferenceRequest;
using request::Input;
using request::Parameter;

/// Must change with the list of hashed fields, so that keys of older servers do not match.
constexpr std::string_view kSchema = "nereid request key 1";

bool IsOfSequence(const InferenceRequest& request) {
  if (request.flags != 0) return true;
  const auto* number = std::get_if<uint64_t>(&request.correlation_id);
  return number != nullptr ? *number != 0 : !std::get<std::string>(request.correlation_id).empty();
}

template <typename List>
auto SortedByName(const List& list) {
  std::vector<decltype(&*list.begin())> sorted;
  sorted.reserve(list.size());
  for (const auto& element : list) sorted.push_back(&element);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->name < b->name; });
  return sorted;
}

bool WriteInput(const Input& input, DigestWriter& writer) {
  writer.Text(input.name);
  writer.Number(static_cast<uint64_t>(input.type));
  writer.Number(input.shape.size());
  for (const int64_t dim : input.shape) writer.Number(static_cast<uint64_t>(dim));
  writer.Number(input.ByteSize());
  for (const request::InputPiece& piece : input.pieces) {
    if (piece.memory_type == memory::MemoryType::kGpu) return false;
    writer.Raw(piece.data, piece.size);
  }
  return true;
}

struct ValueWriter {
  DigestWriter& writer;
  void operator()(const std::string& value) const { writer.Text(value); }
  void operator()(int64_t value) const { writer.Number(static_cast<uint64_t>(value)); }
  void operator()(bool value) const { writer.Number(value ? 1 : 0); }
  void operator()(double value) const { writer.Number(std::bit_cast<uint64_t>(value)); }
};

}  // namespace

std::optional<Digest> ComputeRequestKey(const InferenceRequest& request,
                                        const Digest& fingerprint) {
  if (IsOfSequence(request)) return std::nullopt;
  // The client could give the model other bytes than those that the key is made of, or change the
  // response before it is stored, and so choose the responses of other clients.
  if (request.has_shared_memory) return std::nullopt;
  DigestWriter writer;
  writer.Text(kSchema);
  writer.Text(request.model()->name);
  writer.Number(static_cast<uint64_t>(request.model()->version));
  writer.Raw(fingerprint.data(), fingerprint.size());
  writer.Number(request.inputs().size());
  for (const Input* input : SortedByName(request.inputs())) {
    if (!WriteInput(*input, writer)) return std::nullopt;
  }
  writer.Number(request.requested_outputs.size());
  for (const std::string& name : request.requested_outputs) writer.Text(name);
  writer.Number(request.parameters.size());
  for (const Parameter* parameter : SortedByName(request.parameters)) {
    writer.Text(parameter->name);
    writer.Number(parameter->value.index());
    std::visit(ValueWriter{writer}, parameter->value);
  }
  return writer.Finish();
}

}  // namespace nereid::cache
