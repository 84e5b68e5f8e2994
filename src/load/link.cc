// SPDX-License-Identifier: Apache-2.0
#include "load/link.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace nereid::load {
namespace {

/// Returns the reason of the last failure of OpenSSL on this thread.
std::string TlsReason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  char text[256] = "the connection ended during the handshake";
  if (code != 0) ERR_error_string_n(code, text, sizeof(text));
  return text;
}

}  // namespace

TlsContext MakeTlsContext(const TlsSettings& settings, std::string* error) {
  TlsContext context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (context == nullptr) {
    *error = "OpenSSL has no memory";
    return nullptr;
  }
  SSL_CTX_set_read_ahead(context.get(), 1);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (!settings.verify) return context;
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  const int loaded =
      settings.ca_file.empty()
          ? SSL_CTX_set_default_verify_paths(context.get())
          : SSL_CTX_load_verify_locations(context.get(), settings.ca_file.c_str(), nullptr);
  if (loaded == 1) return context;
  *error = "the authorities in '" + settings.ca_file + "' cannot be used: " + TlsReason();
  return nullptr;
}

Link::~Link() {
  SSL_free(tls_);
  close(fd_);
}

bool Link::StartTls(const TlsContext& context, const char* protocol, const std::string& host,
                    std::string* error) {
  const std::string offered = static_cast<char>(std::strlen(protocol)) + std::string(protocol);
  tls_ = SSL_new(context.get());
  if (tls_ == nullptr) {
    *error = "OpenSSL has no memory";
    return false;
  }
  SSL_set_fd(tls_, fd_);
  SSL_set_tlsext_host_name(tls_, host.c_str());
  SSL_set1_host(tls_, host.c_str());
  SSL_set_alpn_protos(tls_, reinterpret_cast<const unsigned char*>(offered.data()),
                      static_cast<unsigned int>(offered.size()));
  if (SSL_connect(tls_) == 1) return true;
  *error = TlsReason();
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

}  // namespace nereid::load
