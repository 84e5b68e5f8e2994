// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/infer_request_view.h"

#include <bit>
#include <string>
#include <unordered_map>

#include "base/utf8.h"
#include "codec/proto/contents.h"

namespace nereid::codec::proto {
namespace {

constexpr uint32_t LengthTag(uint32_t field) { return MakeTag(field, WireType::kLength); }
constexpr uint32_t VarintTag(uint32_t field) { return MakeTag(field, WireType::kVarint); }

// Up to this many parameters are searched linearly.
constexpr size_t kFewParameters = 16;

bool ReadString(WireReader& reader, std::string_view* text) {
  return reader.ReadBytes(text) && base::IsUtf8(*text);
}

// Parses the value of a map entry. Several values are merged: the last choice that is set counts.
bool ParseInferParameter(std::string_view body, int depth, ParameterView* parameter) {
  using Kind = ParameterView::Kind;
  WireReader reader(body);
  while (!reader.done()) {
    uint32_t tag = 0;
    if (!reader.ReadTag(&tag)) return false;
    Kind kind = Kind::kUnset;
    bool ok = true;
    switch (tag) {
      case VarintTag(1):
        ok = reader.ReadVarint(&parameter->bits);
        parameter->bits = parameter->bits != 0 ? 1 : 0;
        kind = Kind::kBool;
        break;
      case VarintTag(2):
        ok = reader.ReadVarint(&parameter->bits);
        kind = Kind::kInt64;
        break;
      case LengthTag(3):
        ok = ReadString(reader, &parameter->text);
        kind = Kind::kString;
        break;
      case MakeTag(4, WireType::kFixed64):
        ok = reader.ReadFixed64(&parameter->bits);
        kind = Kind::kDouble;
        break;
      case VarintTag(5):
        ok = reader.ReadVarint(&parameter->bits);
        kind = Kind::kUint64;
        break;
      default:
        ok = reader.SkipValue(tag, depth);
    }
    if (!ok) return false;
    if (kind != Kind::kUnset) parameter->kind = kind;
  }
  return true;
}

// Parses an entry of map<string, InferParameter>. `depth` is how deep the entry may still be
// nested.
bool ParseEntry(std::string_view body, int depth, ParameterView* parameter) {
  WireReader reader(body);
  while (!reader.done()) {
    uint32_t tag = 0;
    if (!reader.ReadTag(&tag)) return false;
    std::string_view value;
    bool ok = true;
    if (tag == LengthTag(1)) {
      ok = ReadString(reader, &parameter->name);
    } else if (tag == LengthTag(2)) {
      ok = reader.ReadBytes(&value) && ParseInferParameter(value, depth - 1, parameter);
    } else {
      ok = reader.SkipValue(tag, depth);
    }
    if (!ok) return false;
  }
  return true;
}

// Keeps the last of the entries with the same key, from `first` on, at the place of the first one.
void KeepLastOfEachKey(size_t first, std::vector<ParameterView>* parameters) {
  const size_t count = parameters->size() - first;
  if (count < 2) return;
  size_t kept = first;
  if (count <= kFewParameters) {
    for (size_t i = first; i < parameters->size(); ++i) {
      size_t place = first;
      while (place < kept && (*parameters)[place].name != (*parameters)[i].name) ++place;
      (*parameters)[place] = (*parameters)[i];
      if (place == kept) ++kept;
    }
  } else {
    std::unordered_map<std::string_view, size_t> places;
    for (size_t i = first; i < parameters->size(); ++i) {
      const auto [place, added] = places.try_emplace((*parameters)[i].name, kept);
      (*parameters)[place->second] = (*parameters)[i];
      if (added) ++kept;
    }
  }
  parameters->resize(kept);
}

}  // namespace

double ParameterView::AsDouble() const { return std::bit_cast<double>(bits); }

base::Status InferRequestView::Parse(std::string_view message) {
  Clear();
  if (ParseFields(message)) return base::Status::Ok();
  if (!bound_exceeded_.ok()) return std::move(bound_exceeded_);
  return base::Status::Internal("failed to parse the ModelInferRequest message");
}

void InferRequestView::Clear() {
  model_name = model_version = id = {};
  parameters.clear();
  inputs.clear();
  outputs.clear();
  raw_input_contents.clear();
  dims_.clear();
  tensor_parameters_.clear();
  contents_bodies_.clear();
  bound_exceeded_ = base::Status::Ok();
}

bool InferRequestView::Within(size_t count, size_t bound, std::string_view what) {
  if (count <= bound) return true;
  bound_exceeded_ = base::Status::InvalidArgument("the request has more than " +
                                                  std::to_string(bound) + " " + std::string(what));
  return false;
}

bool InferRequestView::ParseFields(std::string_view message) {
  WireReader reader(message);
  while (!reader.done()) {
    uint32_t tag = 0;
    bool known = true;
    if (!reader.ReadTag(&tag) || !ParseKnownField(reader, tag, &known)) return false;
    if (!known && !reader.SkipValue(tag, kMaxWireDepth)) return false;
  }
  KeepLastOfEachKey(0, &parameters);
  return true;
}

bool InferRequestView::ParseKnownField(WireReader& reader, uint32_t tag, bool* known) {
  std::string_view body;
  switch (tag) {
    case LengthTag(1):
      return ReadString(reader, &model_name);
    case LengthTag(2):
      return ReadString(reader, &model_version);
    case LengthTag(3):
      return ReadString(reader, &id);
    case LengthTag(4):
      return reader.ReadBytes(&body) &&
             ParseEntry(body, kMaxWireDepth - 1, &parameters.emplace_back()) &&
             Within(parameters.size(), kMaxRequestParameters, "parameters");
    case LengthTag(5):
      return reader.ReadBytes(&body) && ParseInput(body, &inputs.emplace_back()) &&
             Within(inputs.size(), kMaxRequestTensors, "inputs");
    case LengthTag(6):
      return reader.ReadBytes(&body) && ParseOutput(body, &outputs.emplace_back()) &&
             Within(outputs.size(), kMaxRequestTensors, "requested outputs");
    case LengthTag(7):
      return reader.ReadBytes(&raw_input_contents.emplace_back()) &&
             Within(raw_input_contents.size(), kMaxRequestRawEntries, "raw_input_contents");
    default:
      *known = false;
      return true;
  }
}

bool InferRequestView::ParseInput(std::string_view body, InputView* input) {
  const size_t first_parameter = tensor_parameters_.size();
  input->dims.begin = static_cast<uint32_t>(dims_.size());
  input->contents.bodies.begin = static_cast<uint32_t>(contents_bodies_.size());
  WireReader reader(body);
  while (!reader.done()) {
    uint32_t tag = 0;
    bool known = true;
    if (!reader.ReadTag(&tag) || !ParseInputField(reader, tag, input, &known)) return false;
    if (!known && !reader.SkipValue(tag, kMaxWireDepth - 1)) return false;
  }
  KeepLastOfEachKey(first_parameter, &tensor_parameters_);
  input->parameters = {static_cast<uint32_t>(first_parameter),
                       static_cast<uint32_t>(tensor_parameters_.size())};
  input->dims.end = static_cast<uint32_t>(dims_.size());
  input->contents.bodies.end = static_cast<uint32_t>(contents_bodies_.size());
  return true;
}

bool InferRequestView::ParseInputField(WireReader& reader, uint32_t tag, InputView* input,
                                       bool* known) {
  std::string_view body;
  switch (tag) {
    case LengthTag(1):
      return ReadString(reader, &input->name);
    case LengthTag(2):
      return ReadString(reader, &input->datatype);
    case LengthTag(3):
    case VarintTag(3):
      return ParseShape(reader, tag == LengthTag(3));
    case LengthTag(4):
      return reader.ReadBytes(&body) &&
             ParseEntry(body, kMaxWireDepth - 2, &tensor_parameters_.emplace_back()) &&
             Within(tensor_parameters_.size(), kMaxRequestParameters, "tensor parameters");
    case LengthTag(5):
      input->contents.present = true;
      if (!reader.ReadBytes(&body)) return false;
      contents_bodies_.push_back(body);
      return CountContents(body, kMaxWireDepth - 2, &input->contents) &&
             Within(contents_bodies_.size(), kMaxContentsPieces, "contents");
    default:
      *known = false;
      return true;
  }
}

bool InferRequestView::ParseShape(WireReader& reader, bool packed) {
  uint64_t dim = 0;
  if (!packed) {
    if (!reader.ReadVarint(&dim)) return false;
    dims_.push_back(static_cast<int64_t>(dim));
    return Within(dims_.size(), kMaxRequestDims, "dimensions");
  }
  std::string_view body;
  if (!reader.ReadBytes(&body)) return false;
  WireReader elements(body);
  while (!elements.done()) {
    if (!elements.ReadVarint(&dim)) return false;
    dims_.push_back(static_cast<int64_t>(dim));
    if (!Within(dims_.size(), kMaxRequestDims, "dimensions")) return false;
  }
  return true;
}

bool InferRequestView::ParseOutput(std::string_view body, OutputView* output) {
  const size_t first_parameter = tensor_parameters_.size();
  WireReader reader(body);
  while (!reader.done()) {
    uint32_t tag = 0;
    if (!reader.ReadTag(&tag)) return false;
    std::string_view entry;
    bool ok = true;
    if (tag == LengthTag(1)) {
      ok = ReadString(reader, &output->name);
    } else if (tag == LengthTag(2)) {
      ok = reader.ReadBytes(&entry) &&
           ParseEntry(entry, kMaxWireDepth - 2, &tensor_parameters_.emplace_back()) &&
           Within(tensor_parameters_.size(), kMaxRequestParameters, "tensor parameters");
    } else {
      ok = reader.SkipValue(tag, kMaxWireDepth - 1);
    }
    if (!ok) return false;
  }
  KeepLastOfEachKey(first_parameter, &tensor_parameters_);
  output->parameters = {static_cast<uint32_t>(first_parameter),
                        static_cast<uint32_t>(tensor_parameters_.size())};
  return true;
}

}  // namespace nereid::codec::proto
