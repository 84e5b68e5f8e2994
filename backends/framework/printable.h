// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nereid::framework {

/// Returns text from a model in a form that can be part of a message: control characters except
/// line breaks and tabs become \xNN, and so do all bytes of other than ASCII characters unless the
/// text is UTF-8. A text of more than `limit` bytes is cut.
std::string Printable(std::string_view text, size_t limit = 2000);

}  // namespace nereid::framework
