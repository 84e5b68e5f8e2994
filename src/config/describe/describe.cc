// SPDX-License-Identifier: Apache-2.0
#include "config/describe/describe.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <charconv>
#include <cmath>

#include "base/json_writer.h"
#include "config/describe/map_entries.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

// Returns whether a 64-bit field is written as a string. Only three fields are.
bool PrintsAsString(const Field* field) {
  static const Field* const initial_dims =
      inference::ModelSequenceBatching::InitialState::descriptor()->FindFieldByName("dims");
  static const Field* const graph_dims =
      inference::ModelOptimizationPolicy::Cuda::GraphSpec::Shape::descriptor()->FindFieldByName(
          "dim");
  static const Field* const device_id =
      inference::ModelInstanceGroup::SecondaryDevice::descriptor()->FindFieldByName("device_id");
  return field == initial_dims || field == graph_dims || field == device_id;
}

class Printer {
 public:
  explicit Printer(std::string* out) : json_(out) {}

  void PrintMessage(const pb::Message& message) {
    json_.BeginObject();
    PrintFields(message, /*oneof_scalars=*/false);
    PrintFields(message, /*oneof_scalars=*/true);
    json_.EndObject();
  }

 private:
  // Writes the fields in declaration order; Reflection::ListFields would return them in the order
  // of their numbers. Scalar members of a oneof are written in a second pass, because protobuf's
  // own JSON printer writes them last.
  void PrintFields(const pb::Message& message, bool oneof_scalars) {
    const pb::Descriptor* type = message.GetDescriptor();
    for (int i = 0; i < type->field_count(); ++i) {
      const Field* field = type->field(i);
      const bool scalar = field->cpp_type() != Field::CPPTYPE_MESSAGE;
      if ((scalar && field->has_presence()) != oneof_scalars) continue;
      if (field->has_presence() && !message.GetReflection()->HasField(message, field)) continue;
      json_.Key(field->name());
      PrintField(message, field);
    }
  }

  void PrintField(const pb::Message& message, const Field* field) {
    if (field->is_map()) {
      PrintMap(message, field);
    } else if (field->is_repeated()) {
      const int count = message.GetReflection()->FieldSize(message, field);
      json_.BeginArray();
      for (int i = 0; i < count; ++i) PrintValue(message, field, i);
      json_.EndArray();
    } else {
      PrintValue(message, field, kSingular);
    }
  }

  void PrintMap(const pb::Message& message, const Field* field) {
    json_.BeginObject();
    for (const MapEntry& entry : SortedMapEntries(message, field)) {
      json_.Key(entry.key);
      PrintValue(*entry.entry, entry.value, kSingular);
    }
    json_.EndObject();
  }

  // Writes one value: element `index` of a list, or the field itself if `index` is kSingular.
  void PrintValue(const pb::Message& m, const Field* f, int index) {
    const pb::Reflection* r = m.GetReflection();
    const bool one = index == kSingular;
    switch (f->cpp_type()) {
      case Field::CPPTYPE_INT32:
        json_.Integer(one ? r->GetInt32(m, f) : r->GetRepeatedInt32(m, f, index));
        return;
      case Field::CPPTYPE_UINT32:
        json_.Integer(one ? r->GetUInt32(m, f) : r->GetRepeatedUInt32(m, f, index));
        return;
      case Field::CPPTYPE_INT64:
        return PrintWide(one ? r->GetInt64(m, f) : r->GetRepeatedInt64(m, f, index), f);
      case Field::CPPTYPE_UINT64:
        return PrintWide(one ? r->GetUInt64(m, f) : r->GetRepeatedUInt64(m, f, index), f);
      case Field::CPPTYPE_FLOAT:
        return PrintReal(one ? r->GetFloat(m, f) : r->GetRepeatedFloat(m, f, index));
      case Field::CPPTYPE_DOUBLE:
        return PrintReal(one ? r->GetDouble(m, f) : r->GetRepeatedDouble(m, f, index));
      case Field::CPPTYPE_BOOL:
        json_.Bool(one ? r->GetBool(m, f) : r->GetRepeatedBool(m, f, index));
        return;
      case Field::CPPTYPE_ENUM:
        return PrintEnum(f, one ? r->GetEnumValue(m, f) : r->GetRepeatedEnumValue(m, f, index));
      case Field::CPPTYPE_STRING:
        json_.String(one ? r->GetString(m, f) : r->GetRepeatedString(m, f, index));
        return;
      case Field::CPPTYPE_MESSAGE:
        return PrintMessage(one ? r->GetMessage(m, f) : r->GetRepeatedMessage(m, f, index));
    }
  }

  template <typename T>
  void PrintWide(T value, const Field* field) {
    if (PrintsAsString(field)) {
      json_.String(std::to_string(value));
    } else {
      json_.Integer(value);
    }
  }

  // Writes the shortest text that parses to the same value. JSON has no infinities or NaN;
  // protobuf's JSON form writes them as strings.
  template <typename T>
  void PrintReal(T value) {
    if (std::isnan(value)) {
      json_.String("NaN");
    } else if (std::isinf(value)) {
      json_.String(value > 0 ? "Infinity" : "-Infinity");
    } else {
      char text[40];
      json_.Raw({text, std::to_chars(text, text + sizeof(text), value).ptr});
    }
  }

  // A number without a name is possible (proto3 enums are open) and is written as a number.
  void PrintEnum(const Field* field, int number) {
    const pb::EnumValueDescriptor* value = field->enum_type()->FindValueByNumber(number);
    if (value != nullptr) {
      json_.String(value->name());
    } else {
      json_.Integer(number);
    }
  }

  static constexpr int kSingular = -1;
  base::JsonWriter json_;
};

}  // namespace

std::string DescribeModelConfigJson(const ModelConfig& config) {
  std::string json;
  Printer(&json).PrintMessage(config.proto());
  return json;
}

}  // namespace nereid::config
