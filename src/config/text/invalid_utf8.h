// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace nereid::config {

/// The bytes that some editors write at the beginning of a file. The parser of the text format does
/// not accept them.
inline constexpr std::string_view kUtf8ByteOrderMark = "\xEF\xBB\xBF";

/// Returns the name of the first string field, at any depth, whose value is not valid UTF-8.
/// Protobuf's text format accepts such values, but neither JSON nor gRPC messages may contain them.
std::optional<std::string> FindInvalidUtf8(const google::protobuf::Message& message);

}  // namespace nereid::config
