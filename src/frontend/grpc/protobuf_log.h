// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::frontend::grpc {

/// Redirects libprotobuf's messages from stderr to the server's log. Messages about clients'
/// faults, such as text that is not UTF-8, become verbose. Any thread may call it, any number of
/// times.
void TakeOverProtobufLog();

}  // namespace nereid::frontend::grpc
