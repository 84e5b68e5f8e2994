// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>

#include "frontend/net/socket.h"

namespace nereid::frontend::net {

/// Where Linux's congestion control is BBR (net.ipv4.tcp_congestion_control), it estimates the
/// bandwidth of each connection and sends no faster. Between two processes of one machine there is
/// nothing to estimate: the pauses only make a large response slower and wake its client more often
/// (docs/decisions/0029-loopback-without-pacing.md). A connection that had BBR once stays paced, so
/// all clients begin with Reno, which every kernel has, and those of other machines get BBR
/// afterwards.

/// Returns whether a congestion control paces: "bbr" and its versions do.
bool IsPacing(std::string_view congestion_control);

/// Returns the name of a TCP socket's congestion control, which accepted sockets inherit. Empty for
/// sockets of other kinds.
std::string CongestionControlOf(const Socket& socket);

/// Called before the TCP socket `listening` listens. If its clients would be paced, they get Reno.
/// Returns the congestion control to give back to the clients of other machines, or an empty text
/// if nothing was changed.
std::string EndPacingOfClients(const Socket& listening);

/// Gives a client of another machine what EndPacingOfClients() has returned, unless its route has a
/// congestion control of its own.
void RestorePacing(const Socket& connection, const std::string& congestion_control);

/// Returns whether a client has this machine's loopback address: 127.0.0.0/8, also as an IPv6
/// address, or ::1.
bool IsLoopback(const sockaddr& client);

}  // namespace nereid::frontend::net
