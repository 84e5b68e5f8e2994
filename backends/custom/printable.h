// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::custom {

/// A library's text as it can stand in an error message, which is UTF-8: where it is not, each byte
/// that is not ASCII becomes "\xff".
std::string Printable(std::string_view text);

}  // namespace nereid::custom
