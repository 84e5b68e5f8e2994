// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace google::protobuf {
class Descriptor;
}

namespace nereid::config {

/// What a field with an unknown name was meant to be. At most one member is not empty.
struct MeantField {
  /// A field of the same message.
  std::string name;
  /// The parts of the configuration that have a field with this name: "dynamic_batching { }".
  std::string place;

  /// Returns "Write 'name'.", "Move it into place." or "".
  std::string Remedy() const;
  /// Returns the same as a sentence for the end of an error message, behind a blank; or "".
  std::string Hint() const;
};

/// Looks for the name in the message with another letter case, number or underscores, then in the
/// parts of the message and all other parts of the configuration, then for a name that is nearly
/// the same in the message.
MeantField FindMeantField(std::string_view name, const google::protobuf::Descriptor& type);

}  // namespace nereid::config
