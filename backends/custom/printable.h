// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::custom {

/// Returns a library's text in a form that can be part of an error message, which must be UTF-8. If
/// the text is not UTF-8, each byte that is not ASCII becomes an escape such as "\xff".
std::string Printable(std::string_view text);

}  // namespace nereid::custom
