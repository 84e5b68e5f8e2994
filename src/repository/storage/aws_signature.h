// SPDX-License-Identifier: Apache-2.0
// Signature Version 4 of AWS ("Create a signed AWS API request" in the IAM User Guide).
#pragma once

#include <cstdint>
#include <string>

#include "curl/http_message.h"
#include "repository/storage/aws_keys.h"
#include "repository/storage/url_encode.h"

namespace nereid::repository::storage {

/// What of a request is signed.
struct AwsRequest {
  std::string method = "GET";
  std::string path = "/";        // encoded, as it is sent
  Parameters parameters = {};    // of the query
  curl::HttpFields fields = {};  // the fields to sign; "host" and "x-amz-date" must be among them
  std::string body_sha256 = {};  // hexadecimal
};

/// For what the signature is valid.
struct AwsScope {
  std::string region;
  std::string service;  // "s3"
  std::string time;     // BasicTimeText; the value of the field "x-amz-date"
};

/// Returns the value of the field "Authorization".
std::string AwsAuthorization(const AwsRequest& request, const AwsScope& scope, const AwsKeys& keys);

}  // namespace nereid::repository::storage
