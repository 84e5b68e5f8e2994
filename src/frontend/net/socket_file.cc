// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/socket_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "frontend/net/socket.h"

namespace nereid::frontend::net {
namespace {

/// Lets the servers that begin to listen in one directory do so one after the other: a socket that
/// another server has bound, but on which it does not listen yet, looks as if nobody listened.
/// A process of another user may hold the lock for any time, so it is not waited for longer than
/// a server needs.
class DirectoryLock {
 public:
  explicit DirectoryLock(const std::string& path) {
    std::string directory = std::filesystem::path(path).parent_path().string();
    if (directory.empty()) directory = ".";
    directory_ = Socket(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (int tries = 0; directory_.is_open() && tries < 50; ++tries) {
      if (flock(directory_.descriptor(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  Socket directory_;  // closing it releases the lock
};

/// Returns 0 if a process listens on the socket of `endpoint`, or the errno that connect(2) gives.
int TryToConnect(const Endpoint& endpoint) {
  const Socket probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!probe.is_open()) return errno;
  if (connect(probe.descriptor(), endpoint.data(), endpoint.size()) == 0) return 0;
  // The queue of a server that is busy is full.
  return errno == EAGAIN || errno == EINPROGRESS ? 0 : errno;
}

base::Status RemoveStaleFile(const Endpoint& endpoint, const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? base::Status::Ok() : ListenFailure(endpoint, errno);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return base::Status::InvalidArgument("cannot listen on socket '" + endpoint.text() +
                                         "': the file exists and is not a socket; remove it or "
                                         "choose another path");
  }
  const int error = TryToConnect(endpoint);
  if (error == 0) return ListenFailure(endpoint, EADDRINUSE);
  if (error == ECONNREFUSED) SocketFile(path, found).Remove();
  return error == ECONNREFUSED || error == ENOENT ? base::Status::Ok()
                                                  : ListenFailure(endpoint, error);
}

/// Sets the mode of the socket's file. Returns 0 or an errno, and what is known about the file.
int SetMode(const std::string& path, mode_t mode, struct stat* file) {
  // The descriptor makes sure that the mode is not set for another file than the one of `file`.
  const Socket handle(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!handle.is_open() || fstat(handle.descriptor(), file) != 0) return errno;
  if (!S_ISSOCK(file->st_mode)) return EEXIST;
  const std::string name = "/proc/self/fd/" + std::to_string(handle.descriptor());
  return chmod(name.c_str(), mode) == 0 ? 0 : errno;
}

}  // namespace

void SocketFile::Remove() noexcept {
  if (path_.empty()) return;
  struct stat found = {};
  if (lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_) {
    unlink(path_.c_str());
  }
  path_.clear();
}

base::Status ListenOnFile(int socket, const Endpoint& endpoint, mode_t mode, SocketFile* file) {
  const std::string path = endpoint.path();
  const DirectoryLock lock(path);
  NEREID_RETURN_IF_ERROR(RemoveStaleFile(endpoint, path));
  if (bind(socket, endpoint.data(), endpoint.size()) != 0) return ListenFailure(endpoint, errno);
  // Nobody can connect before listen(), so nobody comes in by the mode that bind() has set.
  struct stat bound = {};
  const int error = SetMode(path, mode, &bound);
  if (S_ISSOCK(bound.st_mode)) *file = SocketFile(path, bound);
  if (error != 0) return ListenFailure(endpoint, error);
  if (listen(socket, SOMAXCONN) != 0) return ListenFailure(endpoint, errno);
  return base::Status::Ok();
}

}  // namespace nereid::frontend::net
