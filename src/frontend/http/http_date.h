// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <string>

namespace nereid::frontend::http {

/// Returns a time as the field Date has it (RFC 9110, section 5.6.7): "Sun, 06 Nov 1994 08:49:37
/// GMT".
std::string HttpDate(std::time_t time);

}  // namespace nereid::frontend::http
