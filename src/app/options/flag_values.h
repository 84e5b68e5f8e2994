// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "app/options/server_options.h"
#include "base/result.h"

namespace nereid::app {

/// Parsers of the values of flags. They return INVALID_ARGUMENT with the reason alone; the caller
/// puts the name of the flag in front of it.

/// Parses true, on, 1 / false, off, 0 in any letter case.
base::Result<bool> ParseBool(std::string_view text);

/// Parses a whole number in [min, max] with an optional sign. No other text may follow the number.
base::Result<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max);

/// Parses a decimal number in [min, max]. No other text may follow the number.
base::Result<double> ParseNumber(std::string_view text, double min, double max);

/// Parses the permissions of a file, 0 to 0777 in octal digits.
base::Result<unsigned> ParseFileMode(std::string_view text);

/// Splits "a<separator>b" at the first separator. `form` is the expected form in the error text,
/// for example "<device>:<bytes>".
base::Result<std::pair<std::string, std::string>> SplitPair(std::string_view text, char separator,
                                                            std::string_view form);

/// Returns the parts between the separators, including empty parts.
std::vector<std::string> SplitList(std::string_view text, char separator = ',');

/// The parts of "<scope>,<setting>=<value>" or "<setting>=<value>" (the scope is "" then). A comma
/// after the first '=' belongs to the value.
struct ScopedSetting {
  std::string scope;
  std::string setting;
  std::string value;
};
/// What ParseScopedSetting() expects of a flag, for its error texts, which are Triton's.
struct ScopedForm {
  std::string_view flag;   // without hyphens
  std::string_view scope;  // what the scope is called: "backend"; empty: errors do not name it
  std::string_view form;   // "<backend name>,<setting>=<value>"
  enum class Scope { kNone, kOptional, kRequired } takes = Scope::kOptional;
};
/// Parses a setting, of which no part may be empty.
base::Result<ScopedSetting> ParseScopedSetting(std::string_view text, const ScopedForm& form);

/// Parses "<category>[,<category>]:<key>=<value>". Returns an error for an unknown category and for
/// a category that `existing` already contains. `word` is "api" or "protocol".
base::Result<RestrictedGroup> ParseRestricted(std::string_view text, std::string_view word,
                                              const std::vector<RestrictedGroup>& existing);

/// Returns `text` with its ASCII letters in lower case.
std::string Lowercase(std::string_view text);

}  // namespace nereid::app
