// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::frontend::grpc {

/// Leads what libprotobuf has to say into the server's log, where clients' mistakes (text that is
/// not UTF-8) are verbose. Else it writes lines of its own to stderr. Any thread, any number of
/// times.
void TakeOverProtobufLog();

}  // namespace nereid::frontend::grpc
