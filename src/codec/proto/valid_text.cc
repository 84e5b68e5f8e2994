// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/valid_text.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "base/utf8.h"

namespace nereid::codec::proto {
namespace {

namespace pb = google::protobuf;

void ReplaceIn(pb::Message* message, const pb::FieldDescriptor* field) {
  const pb::Reflection* const reflection = message->GetReflection();
  std::string scratch;
  if (!field->is_repeated()) {
    const std::string& text = reflection->GetStringReference(*message, field, &scratch);
    if (base::IsUtf8(text)) return;
    reflection->SetString(message, field, base::ReplaceInvalidUtf8(text));
    return;
  }
  for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
    const std::string& text = reflection->GetRepeatedStringReference(*message, field, i, &scratch);
    if (base::IsUtf8(text)) continue;
    reflection->SetRepeatedString(message, field, i, base::ReplaceInvalidUtf8(text));
  }
}

}  // namespace

void ReplaceInvalidText(pb::Message* message) {
  const pb::Reflection* const reflection = message->GetReflection();
  std::vector<const pb::FieldDescriptor*> fields;
  reflection->ListFields(*message, &fields);
  for (const pb::FieldDescriptor* field : fields) {
    if (field->type() == pb::FieldDescriptor::TYPE_STRING) {
      ReplaceIn(message, field);
    } else if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) {
      continue;
    } else if (!field->is_repeated()) {
      ReplaceInvalidText(reflection->MutableMessage(message, field));
    } else {
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
        ReplaceInvalidText(reflection->MutableRepeatedMessage(message, field, i));
      }
    }
  }
}

}  // namespace nereid::codec::proto
