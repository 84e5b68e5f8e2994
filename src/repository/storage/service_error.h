// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::repository::storage {

/// What a store says in a response that is an error.
struct ServiceError {
  std::string code = {};     // "AccessDenied"; letters, digits, '.', '_' and '-' only
  std::string message = {};  // one line, printable, cut
  std::string region = {};   // S3: the bucket's, where it is another one
};

/// Reads <Error><Code>…</Code><Message>…</Message></Error>, the form of S3 and Azure. Parts that
/// are missing stay empty.
ServiceError ParseXmlError(std::string_view body);

/// Reads {"error": {"message": …, "errors": [{"reason": …}]}} of Google's APIs and
/// {"error": "code", "error_description": "…"} of OAuth (RFC 6749, section 5.2).
ServiceError ParseJsonError(std::string_view body);

/// What failed, for its message.
struct FailedCall {
  std::string what;         // "the list of 's3://bucket/path'"
  std::string credentials;  // where the credentials come from; "none (…)" without credentials
  std::string permissions;  // what the credentials must permit
};

/// Returns the error of a call that was answered with an HTTP status outside 200 … 299, in the
/// classes of ObjectStore.
base::Status StatusOf(const FailedCall& call, int http_status, const ServiceError& error);

/// Returns whether a response says that the credentials are not accepted, so that other credentials
/// may help.
bool RefusesCredentials(int http_status, const ServiceError& error);

/// Returns whether the call may succeed later as it is.
bool IsTemporary(int http_status, const ServiceError& error);

}  // namespace nereid::repository::storage
