// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nereid::base {

/// Returns the text with all bytes but letters, digits, '-', '.', '_', '~' written as %XX (RFC
/// 3986, section 2.3; the form that signatures of AWS demand). With `keep_slashes`, '/' stays too.
std::string PercentEncode(std::string_view text, bool keep_slashes = false);

/// Returns the text with %XX replaced by their bytes, or nothing if there is a '%' without two
/// digits. With `plus_is_space`, '+' becomes a space, as in forms.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space = false);

}  // namespace nereid::base
