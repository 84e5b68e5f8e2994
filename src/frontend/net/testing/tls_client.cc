// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/testing/tls_client.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdlib>

namespace nereid::frontend::net::testing {
namespace {

template <typename Read>
auto FromPem(const std::string& text, const Read& read) {
  BIO* const bio = BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
  auto* const object = read(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  if (object == nullptr) std::abort();
  return object;
}

}  // namespace

TlsClient::TlsClient(const Options& options) : context_(SSL_CTX_new(TLS_client_method())) {
  if (!options.authority.text.empty()) {
    X509* const authority = FromPem(options.authority.text, PEM_read_bio_X509);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), authority);
    X509_free(authority);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  }
  if (!options.certificate.text.empty()) {
    X509* const certificate = FromPem(options.certificate.text, PEM_read_bio_X509);
    EVP_PKEY* const key = FromPem(options.certificate.key, PEM_read_bio_PrivateKey);
    SSL_CTX_use_certificate(context_, certificate);
    SSL_CTX_use_PrivateKey(context_, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  if (options.max_version != 0) {
    SSL_CTX_set_security_level(context_, 0);  // to offer versions that nobody should accept
    SSL_CTX_set_min_proto_version(context_, 0);
    SSL_CTX_set_max_proto_version(context_, options.max_version);
  }
  session_ = SSL_new(context_);
  SSL_set_app_data(session_, this);
  SSL_set_info_callback(session_, OnEvent);
  SSL_set_bio(session_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  if (!options.protocols.empty()) {
    SSL_set_alpn_protos(session_, reinterpret_cast<const unsigned char*>(options.protocols.data()),
                        static_cast<unsigned int>(options.protocols.size()));
  }
  if (options.session != nullptr) SSL_set_session(session_, options.session);
  SSL_set_connect_state(session_);
  Receive({});
}

TlsClient::~TlsClient() {
  SSL_free(session_);
  SSL_CTX_free(context_);
}

void TlsClient::OnEvent(const SSL* session, int where, int value) {
  if ((where & SSL_CB_READ_ALERT) != SSL_CB_READ_ALERT) return;
  // OpenSSL 3.0 has no text for this one.
  const bool is_missing = (value & 0xff) == SSL_AD_CERTIFICATE_REQUIRED;
  static_cast<TlsClient*>(SSL_get_app_data(session))->alert_ =
      is_missing ? "certificate required" : SSL_alert_desc_string_long(value);
}

void TlsClient::Receive(std::string_view encrypted) {
  if (!encrypted.empty()) {
    BIO_write(SSL_get_rbio(session_), encrypted.data(), static_cast<int>(encrypted.size()));
  }
  char byte = 0;
  if (IsConnected()) {
    SSL_peek(session_, &byte, 1);  // takes alerts and tickets, and leaves plain bytes
  } else {
    SSL_do_handshake(session_);
  }
  ERR_clear_error();
}

std::string TlsClient::TakeOutput() {
  BIO* const bio = SSL_get_wbio(session_);
  std::string bytes(BIO_ctrl_pending(bio), '\0');
  if (!bytes.empty()) BIO_read(bio, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

bool TlsClient::IsConnected() const { return SSL_is_init_finished(session_) == 1; }

std::string TlsClient::Read() {
  std::string plain;
  char buffer[4096];
  int got = 0;
  while ((got = SSL_read(session_, buffer, sizeof(buffer))) > 0) {
    plain.append(buffer, static_cast<size_t>(got));
  }
  ERR_clear_error();
  return plain;
}

void TlsClient::Write(std::string_view plain) {
  SSL_write(session_, plain.data(), static_cast<int>(plain.size()));
  ERR_clear_error();
}

void TlsClient::EndOutput() { SSL_shutdown(session_); }

void TlsClient::UpdateKeys() {
  SSL_key_update(session_, SSL_KEY_UPDATE_REQUESTED);
  SSL_do_handshake(session_);
}

void TlsClient::Renegotiate() {
  SSL_renegotiate(session_);
  SSL_do_handshake(session_);
  ERR_clear_error();
}

bool TlsClient::server_has_ended() const {
  return (SSL_get_shutdown(session_) & SSL_RECEIVED_SHUTDOWN) != 0;
}

std::string TlsClient::ServerName() const {
  X509* const certificate = SSL_get1_peer_certificate(session_);
  if (certificate == nullptr) return "";
  char name[100] = "";
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof(name));
  X509_free(certificate);
  return name;
}

std::string TlsClient::Protocol() const {
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(session_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

bool TlsClient::resumed() const { return SSL_session_reused(session_) == 1; }

SSL_SESSION* TlsClient::TakeSession() { return SSL_get1_session(session_); }

}  // namespace nereid::frontend::net::testing
