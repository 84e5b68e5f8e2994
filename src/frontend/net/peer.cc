// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/peer.h"

#include <sys/socket.h>

#include "frontend/net/socket_address.h"

namespace nereid::frontend::net {

Peer PeerOfSocket(int descriptor) {
  Peer peer;
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return peer;
  peer.address = SocketAddressText(reinterpret_cast<const sockaddr&>(address), size);
  if (address.ss_family != AF_UNIX) return peer;
  peer.address = "unix";  // the name that a client may have bound says nothing about it
  ucred credentials = {};
  socklen_t credentials_size = sizeof(credentials);
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &credentials_size) == 0) {
    peer.uid = credentials.uid;
    peer.gid = credentials.gid;
  }
  return peer;
}

}  // namespace nereid::frontend::net
