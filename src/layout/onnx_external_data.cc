// SPDX-License-Identifier: Apache-2.0
// The messages and field numbers of onnx.proto that this file reads:
//   ModelProto   graph 7
//   GraphProto   initializer 5 (TensorProto)
//   TensorProto  external_data 13 (StringStringEntryProto), data_location 14 (EXTERNAL = 1)
//   StringStringEntryProto  key 1, value 2; the keys are location, offset, length
#include "layout/onnx_external_data.h"

#include <algorithm>

#include "base/parse_number.h"
#include "base/wire_fields.h"
#include "base/wire_scan.h"

namespace nereid::layout {
namespace {

/// A tensor whose values are elsewhere has a few hundred bytes; a longer one has its values with
/// it.
constexpr uint64_t kMaxExternalTensorBytes = 16384;
constexpr size_t kMaxLocations = 1000;

struct Place {
  bool is_external = false;
  std::string location;
  uint64_t offset = 0;
  uint64_t length = 0;
};

void ReadEntry(std::string_view entry, Place* place) {
  std::string_view key;
  std::string_view value;
  base::ForEachField(entry, [&](const base::WireField& field) {
    if (field.number == 1) key = field.bytes;
    if (field.number == 2) value = field.bytes;
    return true;
  });
  if (key == "location") place->location = value;
  if (key == "offset") place->offset = base::ParseWhole<uint64_t>(value).value_or(0);
  if (key == "length") place->length = base::ParseWhole<uint64_t>(value).value_or(0);
}

void ReadTensor(std::string_view tensor, OnnxExternalData* data) {
  Place place;
  base::ForEachField(tensor, [&](const base::WireField& field) {
    if (field.number == 14) place.is_external = field.varint == 1;
    if (field.number == 13) ReadEntry(field.bytes, &place);
    return true;
  });
  if (!place.is_external || place.location.empty()) return;
  const auto found = data->find(place.location);
  if (found == data->end() && data->size() >= kMaxLocations) return;
  const uint64_t end = place.offset + std::min(place.length, UINT64_MAX - place.offset);
  uint64_t& needed = (*data)[place.location];
  needed = std::max(needed, end);
}

}  // namespace

OnnxExternalData ReadOnnxExternalData(const base::ByteSource& model) {
  OnnxExternalData data;
  base::ScanFields(model, 0, model.size(), [&](const base::ScannedField& graph) {
    if (graph.number != 7 || graph.type != base::WireType::kLength) return true;
    base::ScanFields(model, graph.offset, graph.size, [&](const base::ScannedField& field) {
      const bool is_tensor = field.number == 5 && field.type == base::WireType::kLength;
      if (!is_tensor || field.size > kMaxExternalTensorBytes) return true;
      ReadTensor(model.Read(field.offset, static_cast<size_t>(field.size)), &data);
      return true;
    });
    return true;
  });
  return data;
}

}  // namespace nereid::layout
