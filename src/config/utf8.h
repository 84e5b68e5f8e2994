// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace nereid::config {

/// The bytes that some editors put before a text. No reader of configurations takes them.
inline constexpr std::string_view kUtf8ByteOrderMark = "\xEF\xBB\xBF";

/// The name of the first string field, at any depth, whose value is not valid UTF-8. Protobuf's
/// text format lets such values in, but neither JSON nor the gRPC messages may carry them.
std::optional<std::string> FindInvalidUtf8(const google::protobuf::Message& message);

}  // namespace nereid::config
