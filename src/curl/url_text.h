// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nereid::curl {

/// Returns the URL without a user's name and password, for texts that others read.
std::string UrlWithoutUser(std::string url);

/// Returns the URL without user, password, query and fragment: a query may contain a signature.
std::string UrlForMessages(std::string url);

}  // namespace nereid::curl
