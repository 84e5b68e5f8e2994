// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the settings of a cache. The server passes --cache-config=NAME,SETTING=VALUE as a JSON
// object of strings.

#include <rapidjson/document.h>

#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <system_error>

#include "nereid/backend/error.h"

namespace nereid::caches {

using backend::Error;
using Settings = std::map<std::string, std::string>;

/// Parses the settings. INVALID_ARG if `json` is not an object of strings.
inline Error ReadSettings(const char* json, Settings* settings) {
  rapidjson::Document document;
  document.Parse(json == nullptr ? "" : json);
  if (document.HasParseError() || !document.IsObject()) {
    return Error::InvalidArgument("the settings of a cache must be a JSON object of strings");
  }
  for (const auto& member : document.GetObject()) {
    const std::string name(member.name.GetString(), member.name.GetStringLength());
    if (!member.value.IsString()) {
      return Error::InvalidArgument("setting '" + name + "' must be a string");
    }
    (*settings)[name] = {member.value.GetString(), member.value.GetStringLength()};
  }
  return {};
}

/// Reads a decimal number in [least, most]. Leaves `value` unchanged if the setting is absent.
/// INVALID_ARG for any other text.
inline Error ReadNumber(const Settings& settings, const std::string& name, uint64_t least,
                        uint64_t most, uint64_t* value) {
  const auto found = settings.find(name);
  if (found == settings.end()) return {};
  const std::string& text = found->second;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) {
    return Error::InvalidArgument("setting '" + name + "' is '" + text +
                                  "', but must be an integer from " + std::to_string(least) +
                                  " to " + std::to_string(most));
  }
  *value = number;
  return {};
}

/// Checks that every setting is in `known`, a list of names. INVALID_ARG otherwise.
template <typename Names>
Error CheckNames(const Settings& settings, const Names& known) {
  std::string list;
  for (const char* name : known) list += (list.empty() ? "" : ", ") + std::string(name);
  for (const auto& [name, value] : settings) {
    bool found = false;
    for (const char* candidate : known) found = found || name == candidate;
    if (!found) {
      return Error::InvalidArgument("unknown setting '" + name + "'; there are: " + list);
    }
  }
  return {};
}

}  // namespace nereid::caches
