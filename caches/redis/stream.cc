// SPDX-License-Identifier: Apache-2.0
#include "redis/stream.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

namespace nereid::caches {

using backend::Error;
using std::chrono::milliseconds;

namespace {

Error Unavailable(const std::string& text) { return {TRITONSERVER_ERROR_UNAVAILABLE, text}; }

std::string ErrnoText(int number) {
  char buffer[128];
  return strerror_r(number, buffer, sizeof(buffer));
}

/// Waits for `events` on a socket. A timeout of 0 means no limit.
Error Poll(int socket, short events, milliseconds timeout, const std::string& address) {
  pollfd wanted{socket, events, 0};
  const int limit = timeout.count() == 0 ? -1 : static_cast<int>(timeout.count());
  for (;;) {
    const int ready = poll(&wanted, 1, limit);
    if (ready > 0) return {};
    if (ready == 0) {
      return Unavailable("Redis at " + address + " did not answer within " +
                         std::to_string(timeout.count()) + " ms");
    }
    if (errno != EINTR) return Unavailable("poll: " + ErrnoText(errno));
  }
}

Error ConnectOne(const addrinfo& at, const RedisSettings& settings, int* connected) {
  const int made = socket(at.ai_family, at.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return Unavailable("socket: " + ErrnoText(errno));
  int failure = connect(made, at.ai_addr, at.ai_addrlen) == 0 ? 0 : errno;
  Error waited;
  if (failure == EINPROGRESS) {
    waited = Poll(made, POLLOUT, settings.connect_timeout, settings.Address());
    socklen_t length = sizeof(failure);
    if (waited.ok()) getsockopt(made, SOL_SOCKET, SO_ERROR, &failure, &length);
  }
  if (waited.ok() && failure == 0) {
    const int on = 1;  // each command is sent with one write, so delaying it has no use
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(made, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    *connected = made;
    return {};
  }
  close(made);
  if (!waited.ok()) return waited;
  return Unavailable("Failed to connect to Redis: " + ErrnoText(failure) + ", at " +
                     settings.Address());
}

}  // namespace

Error Stream::Connect(const RedisSettings& settings, TlsContext* tls,
                      std::unique_ptr<Stream>* stream) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure =
      getaddrinfo(settings.host.c_str(), std::to_string(settings.port).c_str(), &hints, &found);
  if (failure != 0) {
    return Unavailable("cannot find Redis host '" + settings.host + "': " + gai_strerror(failure));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  Error error = Unavailable("Redis host '" + settings.host + "' has no address");
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    int socket = -1;
    error = ConnectOne(*at, settings, &socket);
    if (!error.ok()) continue;
    std::unique_ptr<Stream> made(new Stream(socket, settings));
    if (tls != nullptr) NEREID_BACKEND_TRY(made->Handshake(settings, *tls));
    *stream = std::move(made);
    return {};
  }
  return error;
}

Stream::Stream(int socket, const RedisSettings& settings)
    : socket_(socket), address_(settings.Address()), timeout_(settings.socket_timeout) {}

Stream::~Stream() {
  tls_.reset();
  close(socket_);
}

Error Stream::Handshake(const RedisSettings& settings, TlsContext& tls) {
  NEREID_BACKEND_TRY(tls.NewSession(socket_, &tls_));
  for (;;) {
    const int result = [&] {
      const NoBrokenPipe quiet;
      return SSL_do_handshake(tls_.get());
    }();
    if (result == 1) return {};
    NEREID_BACKEND_TRY(WaitForTls(result, settings.connect_timeout));
  }
}

Error Stream::Wait(bool write, milliseconds timeout) {
  return Poll(socket_, write ? POLLOUT : POLLIN, timeout, address_);
}

Error Stream::WaitForTls(int result, milliseconds timeout) {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Wait(false, timeout);
    case SSL_ERROR_WANT_WRITE:
      return Wait(true, timeout);
    default:
      break;
  }
  const long verified = SSL_get_verify_result(tls_.get());
  std::string reason = TlsErrorText();
  if (verified != X509_V_OK) reason += std::string(": ") + X509_verify_cert_error_string(verified);
  return Unavailable("TLS with Redis at " + address_ + " failed: " + reason);
}

Error Stream::Write(const char* data, size_t size) {
  while (size > 0) {
    size_t written = 0;
    if (tls_ != nullptr) {
      const int result = [&] {
        const NoBrokenPipe quiet;
        // After WaitForTls the call is repeated with the same arguments, as OpenSSL requires.
        return SSL_write_ex(tls_.get(), data, size, &written);
      }();
      if (result != 1) {
        NEREID_BACKEND_TRY(WaitForTls(result, timeout_));
        continue;
      }
    } else {
      const ssize_t result = send(socket_, data, size, MSG_NOSIGNAL);
      if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        NEREID_BACKEND_TRY(Wait(true, timeout_));
        continue;
      }
      if (result < 0 && errno == EINTR) continue;
      if (result < 0) {
        return Unavailable("writing to Redis at " + address_ + ": " + ErrnoText(errno));
      }
      written = static_cast<size_t>(result);
    }
    data += written;
    size -= written;
  }
  return {};
}

Error Stream::Read(char* data, size_t size, size_t* read) {
  for (;;) {
    if (tls_ != nullptr) {
      const int result = [&] {
        const NoBrokenPipe quiet;  // SSL_read may write, for example during renegotiation
        return SSL_read_ex(tls_.get(), data, size, read);
      }();
      if (result == 1) return {};
      NEREID_BACKEND_TRY(WaitForTls(result, timeout_));
      continue;
    }
    const ssize_t result = recv(socket_, data, size, 0);
    if (result > 0) {
      *read = static_cast<size_t>(result);
      return {};
    }
    if (result == 0) return Unavailable("Redis at " + address_ + " closed the connection");
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      NEREID_BACKEND_TRY(Wait(false, timeout_));
    } else if (errno != EINTR) {
      return Unavailable("reading from Redis at " + address_ + ": " + ErrnoText(errno));
    }
  }
}

}  // namespace nereid::caches
