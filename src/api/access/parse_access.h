// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "api/access/access_policy.h"
#include "base/result.h"

namespace nereid::api {

/// Parses the text of an access file: one entry a line, words separated by spaces or tabs, "#"
/// before a comment.
///
///   token    <roles>  <name>  hmac-sha256:<salt>:<digest>
///   subject  <roles>  <subject of a client certificate, to the end of the line>
///   uid      <roles>  <number>
///   gid      <roles>  <number>
///
/// <roles> is a list such as "infer,observe". Returns INVALID_ARGUMENT with the number of the line
/// for anything else, and for a token, subject, uid or gid that is named twice.
base::Result<std::shared_ptr<const AccessPolicy>> ParseAccess(std::string_view text);

/// Returns the line of a token.
std::string TokenLine(std::string_view name, const AccessPolicy::Token& token);

}  // namespace nereid::api
