// SPDX-License-Identifier: Apache-2.0
#include "app/options/flag_values.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii_case.h"
#include "base/status.h"

namespace nereid::app {
namespace {

using base::Status;

Status OutOfBound(std::string_view text, const std::string& range) {
  return Status::InvalidArgument("Provided option value is out of bound. Got " + std::string(text) +
                                 ", expected " + range);
}

// std::from_chars does not accept a leading '+'.
std::string_view WithoutPlus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

std::string PlainNumber(double value) {
  char buffer[32];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value).ptr);
}

constexpr std::string_view kCategories[] = {"health",        "metadata",     "inference",
                                            "shared-memory", "model-config", "model-repository",
                                            "statistics",    "trace",        "logging"};

}  // namespace

std::string Lowercase(std::string_view text) { return base::ToLower(text); }

base::Result<bool> ParseBool(std::string_view text) {
  const std::string lower = Lowercase(text);
  if (lower == "true" || lower == "on" || lower == "1") return true;
  if (lower == "false" || lower == "off" || lower == "0") return false;
  return Status::InvalidArgument("invalid value for bool option: " + std::string(text) +
                                 ", expected true or false");
}

base::Result<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max) {
  const std::string range = std::to_string(min) + " to " + std::to_string(max);
  const std::string_view digits = WithoutPlus(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    return Status::InvalidArgument("Invalid option value. Got " + std::string(text) +
                                   ", expected a whole number");
  }
  if (error != std::errc() || value < min || value > max) return OutOfBound(text, range);
  return value;
}

base::Result<unsigned> ParseFileMode(std::string_view text) {
  unsigned mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc() || end != text.data() + text.size() || mode > 0777) {
    return Status::InvalidArgument("Invalid option value. Got " + std::string(text) +
                                   ", expected octal digits from 0 to 0777");
  }
  return mode;
}

base::Result<double> ParseNumber(std::string_view text, double min, double max) {
  const std::string_view digits = WithoutPlus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size() ||
      std::isnan(value)) {
    return Status::InvalidArgument("Invalid option value. Got " + std::string(text) +
                                   ", expected a number");
  }
  if (error != std::errc() || value < min || value > max) {
    return OutOfBound(text, PlainNumber(min) + " to " + PlainNumber(max));
  }
  return value;
}

base::Result<std::pair<std::string, std::string>> SplitPair(std::string_view text, char separator,
                                                            std::string_view form) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) {
    return Status::InvalidArgument("Cannot parse pair option, expected the form " +
                                   std::string(form) + ". Found: " + std::string(text));
  }
  return std::pair(std::string(text.substr(0, at)), std::string(text.substr(at + 1)));
}

std::vector<std::string> SplitList(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.emplace_back(text);
  return parts;
}

base::Result<ScopedSetting> ParseScopedSetting(std::string_view text, std::string_view form,
                                               bool scope_required) {
  const Status bad_form = Status::InvalidArgument("option format is " + std::string(form) +
                                                  ". Got " + std::string(text));
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return bad_form;
  const size_t comma = text.find(',');
  ScopedSetting parsed;
  std::string_view setting = text.substr(0, equals);
  if (comma < equals) {
    parsed.scope = setting.substr(0, comma);
    setting.remove_prefix(comma + 1);
    if (parsed.scope.empty()) return bad_form;
  } else if (scope_required) {
    return bad_form;
  }
  parsed.setting = setting;
  parsed.value = text.substr(equals + 1);
  if (parsed.setting.empty() || parsed.value.empty()) return bad_form;
  return parsed;
}

base::Result<RestrictedGroup> ParseRestricted(std::string_view text, std::string_view word,
                                              const std::vector<RestrictedGroup>& existing) {
  const Status bad_form =
      Status::InvalidArgument("option format is '<" + std::string(word) + ">[,<" +
                              std::string(word) + ">...]:<key>=<value>'. Got " + std::string(text));
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return bad_form;
  const size_t equals = text.find('=', colon);
  if (equals == std::string_view::npos || equals == colon + 1) return bad_form;
  RestrictedGroup group;
  group.key = text.substr(colon + 1, equals - colon - 1);
  group.value = text.substr(equals + 1);
  for (std::string& category : SplitList(text.substr(0, colon))) {
    if (std::find(std::begin(kCategories), std::end(kCategories), category) ==
        std::end(kCategories)) {
      std::string known;
      for (std::string_view name : kCategories) {
        known.append(known.empty() ? "" : ", ").append(name);
      }
      return Status::InvalidArgument("unknown restricted " + std::string(word) + " '" + category +
                                     "', expected one of: " + known);
    }
    const auto names = [&category](const RestrictedGroup& other) {
      return std::count(other.categories.begin(), other.categories.end(), category) > 0;
    };
    if (names(group) || std::any_of(existing.begin(), existing.end(), names)) {
      return Status::InvalidArgument("restricted " + std::string(word) + " '" + category +
                                     "' can not be specified in multiple config groups");
    }
    group.categories.push_back(std::move(category));
  }
  return group;
}

}  // namespace nereid::app
