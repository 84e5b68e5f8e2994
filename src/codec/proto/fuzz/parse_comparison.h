// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nereid::codec::proto::testing {

/// Parses `message` with the hand-written reader and with protobuf and returns the difference:
/// acceptance, any field, any typed element. Does the same with a message whose raw contents are
/// received apart (raw_contents.h). Returns "" when they agree.
std::string CompareWithProtobuf(std::string_view message);

}  // namespace nereid::codec::proto::testing
