// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid::repository::storage {

/// Returns the text with all bytes but letters, digits, '-', '.', '_', '~' written as %XX (RFC
/// 3986, section 2.3; the form that signatures of AWS demand). With `keep_slashes`, '/' stays too.
std::string PercentEncode(std::string_view text, bool keep_slashes = false);

/// Returns the text with %XX replaced by their bytes, or nothing if there is a '%' without two
/// digits. With `plus_is_space`, '+' becomes a space, as in forms.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space = false);

/// Names and values of a query or a form, not encoded.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Returns "name=value&name=value", encoded, in the order of the encoded names and values.
std::string EncodeParameters(const Parameters& parameters);

}  // namespace nereid::repository::storage
