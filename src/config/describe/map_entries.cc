// SPDX-License-Identifier: Apache-2.0
#include "config/describe/map_entries.h"

#include <algorithm>

namespace nereid::config {

namespace pb = google::protobuf;

std::vector<MapEntry> SortedMapEntries(const pb::Message& message,
                                       const pb::FieldDescriptor* field) {
  const pb::Reflection* const reflection = message.GetReflection();
  const pb::FieldDescriptor* const key = field->message_type()->map_key();
  const pb::FieldDescriptor* const value = field->message_type()->map_value();
  const bool is_text = key->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING;
  std::vector<MapEntry> entries;
  for (int i = 0; i < reflection->FieldSize(message, field); ++i) {
    const pb::Message& entry = reflection->GetRepeatedMessage(message, field, i);
    const pb::Reflection* const inner = entry.GetReflection();
    entries.push_back(
        {is_text ? inner->GetString(entry, key) : std::to_string(inner->GetUInt64(entry, key)),
         &entry, value});
  }
  std::sort(entries.begin(), entries.end(), [is_text](const MapEntry& a, const MapEntry& b) {
    // Numbers have no leading zeros, so comparing lengths first sorts them by value.
    if (!is_text && a.key.size() != b.key.size()) return a.key.size() < b.key.size();
    return a.key < b.key;
  });
  return entries;
}

}  // namespace nereid::config
