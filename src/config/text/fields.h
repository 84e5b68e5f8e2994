// SPDX-License-Identifier: Apache-2.0
// Connects the fields of an outline with their names and types in ModelConfig.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/outline.h"

namespace google::protobuf {
class Descriptor;
class FieldDescriptor;
}  // namespace google::protobuf

namespace nereid::config {

/// A field of an outline with its descriptor.
struct KnownField {
  /// The path from the configuration, as in config::Problem: `input[1].dims`,
  /// `parameters[key].string_value`. The elements of a list are counted over all places that add to
  /// it.
  std::string path;
  const google::protobuf::Descriptor* parent = nullptr;
  /// Null if the message has no field with this name.
  const google::protobuf::FieldDescriptor* field = nullptr;
  const TextField* text = nullptr;
};

/// The positions of the parts of one text.
class Locations {
 public:
  /// Collects the positions. `fields` need not outlive the object.
  static Locations Of(const std::vector<TextField>& fields);

  /// Returns the position of exactly this path: the name of a field, or a list element (`dims[1]`).
  /// Null if the text does not contain it.
  const TextPosition* Find(std::string_view path) const;

  /// Returns the position of the path, or of the nearest enclosing part that the text contains; {1,
  /// 1} for the whole text.
  TextPosition Nearest(std::string_view path) const;

  /// The paths of map entries whose key an earlier entry has already, in order.
  const std::vector<std::pair<std::string, TextPosition>>& repeated_keys() const {
    return repeated_keys_;
  }

 private:
  std::map<std::string, TextPosition, std::less<>> places_;
  std::vector<std::pair<std::string, TextPosition>> repeated_keys_;
};

/// Returns the fields of an outline and all fields inside them, parents first.
std::vector<KnownField> ListFields(const std::vector<TextField>& fields);

/// Returns the path without its last part: `input[1].dims[0]`, `input[1].dims`, `input[1]`,
/// `input`, and then an empty path.
std::string_view ParentPath(std::string_view path);

}  // namespace nereid::config
