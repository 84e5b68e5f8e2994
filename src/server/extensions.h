// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nereid::server {

/// Returns the version that the server reports: that of the Triton release whose behavior it has,
/// since clients may test the number.
std::string_view ServerVersion();

/// Returns the protocol extensions that the server reports.
std::vector<std::string> ServerExtensions();

}  // namespace nereid::server
