// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/socket_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nereid::frontend::net {
namespace {

bool IsBlocked(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

void SetOption(int descriptor, int level, int option, int value) {
  (void)!setsockopt(descriptor, level, option, &value, sizeof(value));
}

/// The stream whose owner is being called, until the owner closes it. Loops do not call watchers
/// within watchers, so there is at most one.
thread_local const SocketStream* calling = nullptr;

}  // namespace

bool SocketStream::Open(Owner& owner) noexcept {
  owner_ = &owner;
  wanted_ = known_ = {.reading = true};
  watched_ = loop_.Watch(socket_.descriptor(), *this, known_);
  return watched_;
}

void SocketStream::ReceiveDescriptors() noexcept {
  int domain = 0;
  socklen_t size = sizeof(domain);
  const int failed = getsockopt(socket_.descriptor(), SOL_SOCKET, SO_DOMAIN, &domain, &size);
  receives_descriptors_ = failed == 0 && domain == AF_UNIX;
}

ssize_t SocketStream::Receive(std::span<char> to) noexcept {
  if (receives_descriptors_) return ReceiveWithDescriptor(to);
  return recv(socket_.descriptor(), to.data(), to.size(), 0);
}

// The kernel ends a recvmsg behind the bytes that were sent with descriptors. It closes the
// descriptors for which there is no room, so a client cannot fill the process's table.
ssize_t SocketStream::ReceiveWithDescriptor(std::span<char> to) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec piece = {to.data(), to.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_LEN(sizeof(int));  // with CMSG_SPACE two would fit
  const ssize_t got = recvmsg(socket_.descriptor(), &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
    received_ = Socket(descriptor);
  }
  return got;
}

ByteStream::Outcome SocketStream::Read(std::span<char> to) noexcept {
  while (true) {
    const ssize_t got = Receive(to);
    if (got > 0) {
      const auto size = static_cast<size_t>(got);
      return {size, size < to.size() ? State::kBlocked : State::kOpen};
    }
    if (got == 0) return {0, State::kEnded};
    if (IsBlocked(errno)) return {0, State::kBlocked};
    if (errno != EINTR) return {0, State::kLost};
  }
}

ByteStream::Outcome SocketStream::Write(std::span<const iovec> pieces) noexcept {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  while (true) {
    const ssize_t sent = sendmsg(socket_.descriptor(), &message, MSG_NOSIGNAL);
    if (sent >= 0) return {static_cast<size_t>(sent), State::kOpen};
    if (IsBlocked(errno)) return {0, State::kBlocked};
    if (errno != EINTR) return {0, State::kLost};
  }
}

void SocketStream::SetReading(bool wanted) noexcept {
  wanted_.reading = wanted;
  TellLoop();
}

void SocketStream::AwaitWritable() noexcept {
  wanted_.writing = true;
  TellLoop();
}

// The owner may change its interest several times during a call. The loop gets only the final
// interest.
void SocketStream::TellLoop() noexcept {
  if (wanted_ == known_ || calling == this || !socket_.is_open()) return;
  known_ = wanted_;
  if (watched_) return loop_.Change(socket_.descriptor(), *this, known_);
  watched_ = loop_.Watch(socket_.descriptor(), *this, known_);
}

void SocketStream::MarkServed() noexcept {
  if (watched_) loop_.Promote(socket_.descriptor(), *this, known_);
}

void SocketStream::EndOutput() noexcept { shutdown(socket_.descriptor(), SHUT_WR); }

void SocketStream::ProbePeer(std::chrono::seconds interval) noexcept {
  const int seconds = static_cast<int>(interval.count());
  SetOption(socket_.descriptor(), IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  SetOption(socket_.descriptor(), IPPROTO_TCP, TCP_KEEPINTVL, seconds);
}

void SocketStream::Close() noexcept {
  if (calling == this) calling = nullptr;
  if (std::exchange(watched_, false)) loop_.Unwatch(socket_.descriptor(), *this);
  socket_.Close();
}

// A lost socket counts as readable and writable: the system call that fails reports the loss to the
// owner. If the owner awaits neither, the loop would report the loss in each turn, so the watch
// ends.
void SocketStream::OnReady(Ready ready) noexcept {
  calling = this;
  const Interest wanted = wanted_;
  if (wanted.writing && (ready.writable || ready.lost)) {
    wanted_.writing = false;
    owner_->OnWritable();
    if (calling != this) return;
  }
  if (wanted_.reading && (ready.readable || ready.lost)) {
    owner_->OnReadable();
  } else if (ready.lost && !wanted.writing) {
    watched_ = false;
    known_ = wanted_;
    loop_.Unwatch(socket_.descriptor(), *this);
    owner_->OnLost();
  }
  if (calling != this) return;  // closed, and possibly destroyed
  calling = nullptr;
  TellLoop();
}

}  // namespace nereid::frontend::net
