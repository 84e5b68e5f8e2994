// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "app/options/server_options.h"
#include "base/result.h"

namespace nereid::app {

/// The kinds of values that flags take. Failures are INVALID_ARGUMENT with the reason alone;
/// whoever reads the flag puts its name in front.

/// true, on, 1 / false, off, 0 in any letter case.
base::Result<bool> ParseBool(std::string_view text);

/// A whole number with an optional sign, within [min, max]; nothing may follow it.
base::Result<int64_t> ParseInteger(std::string_view text, int64_t min, int64_t max);

/// A finite decimal number within [min, max]; nothing may follow it.
base::Result<double> ParseNumber(std::string_view text, double min, double max);

/// "a<separator>b" split at the first separator; `form` ("<device>:<bytes>") is what the reason
/// says was expected.
base::Result<std::pair<std::string, std::string>> SplitPair(std::string_view text, char separator,
                                                            std::string_view form);

/// The parts between commas, empty ones included.
std::vector<std::string> SplitList(std::string_view text, char separator = ',');

/// "<scope>,<setting>=<value>" or "<setting>=<value>" (scope ""). A comma after the first '='
/// belongs to the value.
struct ScopedSetting {
  std::string scope;
  std::string setting;
  std::string value;
};
base::Result<ScopedSetting> ParseScopedSetting(std::string_view text, std::string_view form,
                                               bool scope_required);

/// "<category>[,<category>]:<key>=<value>". Categories are checked for spelling, and against those
/// that `existing` names. `word` is "api" or "protocol".
base::Result<RestrictedGroup> ParseRestricted(std::string_view text, std::string_view word,
                                              const std::vector<RestrictedGroup>& existing);

/// ASCII letters made small.
std::string Lowercase(std::string_view text);

}  // namespace nereid::app
