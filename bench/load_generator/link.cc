// SPDX-License-Identifier: Apache-2.0
#include "link.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

namespace nereid::bench {
namespace {

SSL_CTX* Context() {
  static SSL_CTX* const context = [] {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    SSL_CTX* const made = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_read_ahead(made, 1);
    SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return made;
  }();
  return context;
}

}  // namespace

Link::~Link() {
  SSL_free(tls_);
  close(fd_);
}

bool Link::StartTls(const char* protocol) {
  const std::string offered = static_cast<char>(std::strlen(protocol)) + std::string(protocol);
  tls_ = SSL_new(Context());
  SSL_set_fd(tls_, fd_);
  SSL_set_alpn_protos(tls_, reinterpret_cast<const unsigned char*>(offered.data()),
                      static_cast<unsigned int>(offered.size()));
  if (SSL_connect(tls_) == 1) return true;
  errno = EPROTO;
  return false;
}

bool Link::MakeNonBlocking() { return fcntl(fd_, F_SETFL, O_NONBLOCK) == 0; }

/// Returns the result of send(2) and recv(2) in place of OpenSSL's.
ssize_t Link::Failure(int result) {
  const int error = SSL_get_error(tls_, result);
  ERR_clear_error();
  if (error == SSL_ERROR_ZERO_RETURN) return 0;
  errno = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? EAGAIN : EPROTO;
  return -1;
}

ssize_t Link::Send(const void* data, size_t size) {
  if (tls_ == nullptr) return send(fd_, data, size, MSG_NOSIGNAL);
  size_t written = 0;
  return SSL_write_ex(tls_, data, size, &written) == 1 ? static_cast<ssize_t>(written) : Failure(0);
}

ssize_t Link::Receive(void* data, size_t size) {
  if (tls_ == nullptr) return recv(fd_, data, size, 0);
  size_t total = 0;
  while (total < size) {
    size_t got = 0;
    if (SSL_read_ex(tls_, static_cast<char*>(data) + total, size - total, &got) != 1) {
      const ssize_t failure = Failure(0);
      return total > 0 ? static_cast<ssize_t>(total) : failure;
    }
    total += got;
  }
  return static_cast<ssize_t>(total);
}

ssize_t Link::Discard(size_t size) {
  // With MSG_TRUNC the kernel drops the bytes instead of copying them.
  if (tls_ == nullptr) return recv(fd_, nullptr, size, MSG_TRUNC);
  static char dropped[1 << 20];
  return Receive(dropped, std::min(size, sizeof(dropped)));
}

}  // namespace nereid::bench
