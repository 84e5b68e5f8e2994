// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::backend {

/// Settings whose values are strings: the `parameters` of a model configuration, or the
/// --backend-config settings of a backend. Error messages begin with `owner` ("model 'm'").
class Parameters {
 public:
  using Map = std::map<std::string, std::string, std::less<>>;

  Parameters() = default;
  Parameters(std::string owner, Map values)
      : owner_(std::move(owner)), values_(std::move(values)) {}

  const Map& values() const { return values_; }

  /// Returns the value, or null if the key is absent.
  const std::string* Find(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

  /// Reads an integer. Leaves `value` unchanged if the key is absent. INVALID_ARG if the text is
  /// not an integer in [least, most].
  Error ReadInt(std::string_view key, int64_t least, int64_t most, int64_t* value) const {
    const std::string* text = Find(key);
    if (text == nullptr) {
      return {};
    }
    int64_t number = 0;
    const char* end = text->data() + text->size();
    const auto [rest, failure] = std::from_chars(text->data(), end, number);
    if (failure != std::errc() || rest != end || number < least || number > most) {
      return Error::InvalidArgument(owner_ + ": parameter '" + std::string(key) + "' is '" + *text +
                                    "', but must be an integer from " + std::to_string(least) +
                                    " to " + std::to_string(most));
    }
    *value = number;
    return {};
  }

  /// Reads a boolean: 1, 0, true or false. Leaves `value` unchanged if the key is absent.
  /// INVALID_ARG for any other text.
  Error ReadBool(std::string_view key, bool* value) const {
    const std::string* text = Find(key);
    if (text == nullptr) {
      return {};
    }
    if (*text == "1" || *text == "true" || *text == "True" || *text == "TRUE") {
      *value = true;
    } else if (*text == "0" || *text == "false" || *text == "False" || *text == "FALSE") {
      *value = false;
    } else {
      return Error::InvalidArgument(owner_ + ": parameter '" + std::string(key) + "' is '" + *text +
                                    "', but must be true, false, 1 or 0");
    }
    return {};
  }

 private:
  std::string owner_;
  Map values_;
};

}  // namespace nereid::backend
