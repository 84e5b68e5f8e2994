// SPDX-License-Identifier: Apache-2.0
#include "config/text/invalid_utf8.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <vector>

#include "base/utf8.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;

bool FieldIsValid(const pb::Message& message, const pb::FieldDescriptor* field) {
  const pb::Reflection* reflection = message.GetReflection();
  std::string scratch;
  if (!field->is_repeated()) {
    return base::IsUtf8(reflection->GetStringReference(message, field, &scratch));
  }
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    if (!base::IsUtf8(reflection->GetRepeatedStringReference(message, field, i, &scratch))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::string> FindInvalidUtf8(const pb::Message& message) {
  const pb::Reflection* reflection = message.GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->type() == pb::FieldDescriptor::TYPE_STRING) {
      if (!FieldIsValid(message, field)) return field->name();
    } else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        const pb::Message& child = field->is_repeated()
                                       ? reflection->GetRepeatedMessage(message, field, i)
                                       : reflection->GetMessage(message, field);
        if (auto found = FindInvalidUtf8(child)) return found;
      }
    }
  }
  return std::nullopt;
}

}  // namespace nereid::config
