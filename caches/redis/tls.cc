// SPDX-License-Identifier: Apache-2.0
#include "redis/tls.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <ctime>

namespace nereid::caches {

using backend::Error;

namespace {

sigset_t BrokenPipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool BrokenPipeIsPending() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

NoBrokenPipe::NoBrokenPipe() : was_pending_(BrokenPipeIsPending()) {
  const sigset_t set = BrokenPipe();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

// Removes a SIGPIPE that was raised meanwhile before the signal is unblocked. One that was pending
// before belongs to other code and is kept.
NoBrokenPipe::~NoBrokenPipe() {
  if (!was_pending_ && BrokenPipeIsPending()) {
    const sigset_t set = BrokenPipe();
    const timespec now{};
    sigtimedwait(&set, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

std::string TlsErrorText() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  char text[256];
  ERR_error_string_n(code, text, sizeof(text));
  return text;
}

Error TlsContext::Make(const RedisSettings& settings, std::unique_ptr<TlsContext>* context) {
  const RedisSettings::Tls& tls = settings.tls;
  std::unique_ptr<TlsContext> made(new TlsContext());
  made->context_.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const raw = made->context_.get();
  if (raw == nullptr) return Error::Internal("TLS cannot be used: " + TlsErrorText());
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
  const auto failure = [](const std::string& setting, const std::string& file) {
    return Error::InvalidArgument("setting '" + setting + "': cannot use '" + file +
                                  "': " + TlsErrorText());
  };
  if (!tls.cacert.empty() && SSL_CTX_load_verify_file(raw, tls.cacert.c_str()) != 1) {
    return failure("cacert", tls.cacert);
  }
  if (!tls.cacert_dir.empty() && SSL_CTX_load_verify_dir(raw, tls.cacert_dir.c_str()) != 1) {
    return failure("cacert_dir", tls.cacert_dir);
  }
  const bool system = tls.cacert.empty() && tls.cacert_dir.empty();
  if (system) SSL_CTX_set_default_verify_paths(raw);
  if (!tls.cert.empty()) {
    if (SSL_CTX_use_certificate_chain_file(raw, tls.cert.c_str()) != 1) {
      return failure("cert", tls.cert);
    }
    if (SSL_CTX_use_PrivateKey_file(raw, tls.key.c_str(), SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(raw) != 1) {
      return failure("key", tls.key);
    }
  }
  made->ask_for_ = tls.sni;
  made->expected_ = !tls.sni.empty() ? tls.sni : system ? settings.host : "";
  *context = std::move(made);
  return {};
}

Error TlsContext::NewSession(int socket, TlsSession* session) {
  TlsSession made(SSL_new(context_.get()));
  if (made == nullptr || SSL_set_fd(made.get(), socket) != 1 ||
      (!ask_for_.empty() && SSL_set_tlsext_host_name(made.get(), ask_for_.c_str()) != 1)) {
    return Error::Internal("no TLS session could be made: " + TlsErrorText());
  }
  if (!expected_.empty()) {
    // A certificate lists IP addresses and names in different fields.
    X509_VERIFY_PARAM* const verify = SSL_get0_param(made.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(verify, expected_.c_str()) != 1 &&
        SSL_set1_host(made.get(), expected_.c_str()) != 1) {
      return Error::Internal("'" + expected_ + "' cannot be checked in a certificate");
    }
    ERR_clear_error();
  }
  SSL_set_connect_state(made.get());
  *session = std::move(made);
  return {};
}

}  // namespace nereid::caches
