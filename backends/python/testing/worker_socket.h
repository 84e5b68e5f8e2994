// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <vector>

namespace nereid::python {

/// Sends a datagram as a worker does, with a file unless that is -1.
inline void SendAsWorker(int socket, const std::vector<char>& message, int file = -1) {
  iovec part{const_cast<char*>(message.data()), message.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr sent{};
  sent.msg_iov = &part;
  sent.msg_iovlen = 1;
  if (file >= 0) {
    sent.msg_control = control;
    sent.msg_controllen = sizeof(control);
    cmsghdr* rights = CMSG_FIRSTHDR(&sent);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
  }
  EXPECT_EQ(sendmsg(socket, &sent, 0), static_cast<ssize_t>(message.size()));
}

}  // namespace nereid::python
