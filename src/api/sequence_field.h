// SPDX-License-Identifier: Apache-2.0
// What load balancers in front of several servers need: the sequence of a request in a header
// field, where they can read it, and the name of the server in the answers.
#pragma once

#include <span>
#include <string_view>

#include "api/access/caller.h"
#include "base/status.h"
#include "request/request_fields.h"

namespace nereid::api {

/// The field of an answer that has the name of the server.
inline constexpr std::string_view kReplicaField = "x-nereid-replica";

/// Gives a request that belongs to no sequence the sequence that the field `name` names, in any
/// case of letters. The id is a number if the value is one of 1 to 18446744073709551615 in decimal,
/// without sign or leading zeros; otherwise it is the text. Does nothing if `name` is empty, the
/// request has an id, or the field is absent, empty or "0". Returns INVALID_ARGUMENT if there are
/// several such fields, because a load balancer may have read another one, and UNSUPPORTED for a
/// text that is too long for an id.
base::Status TakeSequenceId(std::span<const HeaderField> fields, std::string_view name,
                            request::RequestFields* request);

}  // namespace nereid::api
