// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>
#include <vector>

namespace nereid::config {

/// One entry of a map field. `value` is a field of `entry`, which the message owns.
struct MapEntry {
  std::string key;
  const google::protobuf::Message* entry;
  const google::protobuf::FieldDescriptor* value;
};

/// Returns the entries of the map `field` of `message`, sorted by key: texts in the order of their
/// bytes, numbers by value. The keys are strings or uint64, as the configuration has no others.
std::vector<MapEntry> SortedMapEntries(const google::protobuf::Message& message,
                                       const google::protobuf::FieldDescriptor* field);

}  // namespace nereid::config
