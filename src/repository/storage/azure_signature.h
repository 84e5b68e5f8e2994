// SPDX-License-Identifier: Apache-2.0
// "Authorize with Shared Key" of Azure Storage's REST API.
#pragma once

#include <string>
#include <string_view>

#include "curl/http_message.h"
#include "repository/storage/url_encode.h"

namespace nereid::repository::storage {

/// What of a GET request is signed.
struct AzureRequest {
  std::string path;              // encoded, as it is sent
  Parameters parameters = {};    // of the query, not encoded
  curl::HttpFields fields = {};  // "If-Match", "Range" and those that begin with "x-ms-" are signed
};

/// Returns the text that is signed.
std::string AzureStringToSign(const AzureRequest& request, const std::string& account);

/// Returns the value of the field "Authorization". `key` is the account's key, decoded.
std::string AzureAuthorization(const AzureRequest& request, const std::string& account,
                               std::string_view key);

}  // namespace nereid::repository::storage
