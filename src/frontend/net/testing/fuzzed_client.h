// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "frontend/net/server_loop.h"

namespace nereid::frontend::net::testing {

using ProtocolMaker = std::function<std::shared_ptr<Protocol>(ServerLoop& loop)>;

/// Serves one client whose traffic comes from a fuzzer, on a loop without sockets. Three bytes of
/// the input describe the client, the rest is what it sends behind `opening`:
///
///     byte 0   the size of the pieces in which its bytes arrive; 0: 4096
///     byte 1   milliseconds that pass between two pieces
///     byte 2   how many bytes it reads between two pieces, in units of 16; 0: all
///
/// After the last piece the client ends its side, and then disconnects. Aborts the process if the
/// connection makes no progress, or is still there after that.
void ServeFuzzedClient(const ProtocolMaker& make_protocol, std::string_view opening,
                       const uint8_t* data, size_t size);

}  // namespace nereid::frontend::net::testing
