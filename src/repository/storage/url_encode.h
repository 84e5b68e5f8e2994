// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/percent_text.h"

namespace nereid::repository::storage {

using base::PercentDecode;
using base::PercentEncode;

/// Names and values of a query or a form, not encoded.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// Returns "name=value&name=value", encoded, in the order of the encoded names and values.
std::string EncodeParameters(const Parameters& parameters);

}  // namespace nereid::repository::storage
