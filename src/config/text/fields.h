// SPDX-License-Identifier: Apache-2.0
// The fields of an outline with the names and types that they have in ModelConfig.
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

/// A field of an outline, looked up in the messages of the configuration.
struct KnownField {
  /// The way from the configuration, as in config::Problem: `input[1].dims`,
  /// `parameters[key].string_value`. A list counts from 0 over all places that add to it.
  std::string path;
  const google::protobuf::Descriptor* parent = nullptr;
  /// Null if the message has no such field.
  const google::protobuf::FieldDescriptor* field = nullptr;
  const TextField* text = nullptr;
};

/// Where the parts of one text stand.
class Locations {
 public:
  /// `fields` need not outlive the object.
  static Locations Of(const std::vector<TextField>& fields);

  /// The place of exactly this path: the name of a field, the element of a list (`dims[1]`). Null
  /// if it is not written.
  const TextPosition* Find(std::string_view path) const;

  /// The place of the path, or of the nearest part around it that is written; {1, 1} for the text
  /// as a whole.
  TextPosition Nearest(std::string_view path) const;

  /// Paths of map entries that an earlier entry of the same key stands before, in order.
  const std::vector<std::pair<std::string, TextPosition>>& repeated_keys() const {
    return repeated_keys_;
  }

 private:
  std::map<std::string, TextPosition, std::less<>> places_;
  std::vector<std::pair<std::string, TextPosition>> repeated_keys_;
};

/// The fields of an outline and all below them, parents first.
std::vector<KnownField> ListFields(const std::vector<TextField>& fields);

/// The path without its last part: `input[1].dims` for `input[1].dims[0]`, then `input[1]`,
/// `input`, and at last nothing.
std::string_view ParentPath(std::string_view path);

}  // namespace nereid::config
