// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <utility>

#include "base/status.h"
#include "frontend/net/endpoint.h"

namespace nereid::frontend::net {

/// The file of a Unix socket that this process has bound. The destructor removes the file, unless
/// another one has taken its place.
class SocketFile {
 public:
  SocketFile() = default;
  SocketFile(std::string path, const struct stat& file)
      : path_(std::move(path)), device_(file.st_dev), inode_(file.st_ino) {}
  SocketFile(SocketFile&& other) noexcept { *this = std::move(other); }
  SocketFile& operator=(SocketFile&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    return *this;
  }
  ~SocketFile() { Remove(); }

  /// Removes the file now. A second call does nothing.
  void Remove() noexcept;

 private:
  std::string path_;  // empty: there is no file
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Binds a socket to the path of `endpoint` and listens. Only the users that `mode` permits can
/// connect, from the first moment on.
///
/// A socket file on which no process listens is what a server has left that was killed: it is
/// replaced. Returns UNAVAILABLE "Socket 'unix:P' already in use " if a process listens on it, and
/// INVALID_ARG if the file is no socket, because only an operator can know what it is.
base::Status ListenOnFile(int socket, const Endpoint& endpoint, mode_t mode, SocketFile* file);

}  // namespace nereid::frontend::net
