// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace google::protobuf {
class Message;
}

namespace nereid::codec::proto {

/// Replaces bytes that are not UTF-8 by U+FFFD in all string fields of a message, at any depth:
/// names of files and texts of plug-ins may have them, and a client would reject the whole message.
void ReplaceInvalidText(google::protobuf::Message* message);

}  // namespace nereid::codec::proto
