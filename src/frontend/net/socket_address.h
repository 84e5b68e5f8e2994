// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <string>

namespace nereid::frontend::net {

/// Returns a socket's address as text: "192.0.2.1:80", "[2001:db8::1]:80", "unix:/run/a.sock",
/// "unix-abstract:name", "unix" for a Unix socket without a name. Empty for other families.
std::string SocketAddressText(const sockaddr& address, socklen_t size);

}  // namespace nereid::frontend::net
