// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_credentials.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <string_view>

#include "base/files.h"
#include "base/log.h"

namespace nereid::frontend::net {
namespace {

using base::Status;

/// Deletes an object of OpenSSL by the function for its type.
template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;

/// Larger files are not what they should be.
constexpr uint64_t kMaxFileBytes = uint64_t{4} << 20;

/// One of the files, with the words for messages about it.
struct PemFile {
  std::string flag;  // "--grpc-server-cert"
  const std::string& path;
  std::string text = {};

  /// Returns INVALID_ARG: "<flag>: <before> '<path>' <after>".
  Status Defect(std::string_view before, std::string_view after) const {
    return Status::InvalidArgument(flag + ": " + std::string(before) + " '" + path + "' " +
                                   std::string(after));
  }
  Status Read() {
    if (path.empty()) {
      return Status::InvalidArgument(flag + " is missing: TLS needs the path of a PEM file");
    }
    base::Result<std::string> read = base::ReadFile(path, kMaxFileBytes);
    if (!read.ok()) return Status::InvalidArgument(flag + ": " + read.status().message());
    text = std::move(read).value();
    return {};
  }
  Bio Open() const { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }
};

/// Called for the passphrase of a key. There is nobody who could be asked for it.
int NoPassphrase(char*, int, int, void* asked) {
  if (asked != nullptr) *static_cast<bool*>(asked) = true;
  return -1;
}

Certificate NextCertificate(BIO* pem) {
  return Certificate(PEM_read_bio_X509_AUX(pem, nullptr, NoPassphrase, nullptr));
}

/// Returns whether reading ended because the file has no further block, and forgets the error.
bool IsAtEnd() {
  const unsigned long error = ERR_peek_last_error();
  const bool at_end = error == 0 || (ERR_GET_LIB(error) == ERR_LIB_PEM &&
                                     ERR_GET_REASON(error) == PEM_R_NO_START_LINE);
  if (at_end) ERR_clear_error();
  return at_end;
}

void WarnIfExpired(const PemFile& file, X509* certificate) {
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) >= 0) return;
  LOG_WARNING << file.flag << ": the certificate in '" << file.path << "' has expired";
}

Status UseCertificate(SSL_CTX* context, PemFile& file) {
  NEREID_RETURN_IF_ERROR(file.Read());
  const Bio pem = file.Open();
  const Certificate first = NextCertificate(pem.get());
  if (first == nullptr) return file.Defect("", "has no certificate in PEM form: " + TlsErrorText());
  if (SSL_CTX_use_certificate(context, first.get()) != 1) {
    return file.Defect("the certificate in", "cannot be used: " + TlsErrorText());
  }
  WarnIfExpired(file, first.get());
  while (Certificate next = NextCertificate(pem.get())) {
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) {
      return file.Defect("a certificate in", "cannot be used: " + TlsErrorText());
    }
  }
  if (!IsAtEnd()) return file.Defect("a certificate in", "cannot be read: " + TlsErrorText());
  return {};
}

Status UseKey(SSL_CTX* context, PemFile& file, const PemFile& certificate) {
  NEREID_RETURN_IF_ERROR(file.Read());
  const Bio pem = file.Open();
  bool asked = false;
  const Key key(PEM_read_bio_PrivateKey(pem.get(), nullptr, NoPassphrase, &asked));
  if (asked) {
    ERR_clear_error();
    return file.Defect("the key in", "has a passphrase, which is not supported");
  }
  if (key == nullptr) return file.Defect("", "has no private key in PEM form: " + TlsErrorText());
  if (X509_check_private_key(SSL_CTX_get0_certificate(context), key.get()) != 1) {
    ERR_clear_error();
    return file.Defect("the key in", "does not belong to the certificate in '" + certificate.path +
                                         "' (" + certificate.flag + ")");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    return file.Defect("the key in", "cannot be used: " + TlsErrorText());
  }
  return {};
}

/// Makes each client show a certificate that one of those in the file has signed. The names of
/// these are told to clients, so that they can choose.
Status RequireClients(SSL_CTX* context, PemFile& file) {
  NEREID_RETURN_IF_ERROR(file.Read());
  const Bio pem = file.Open();
  X509_STORE* const trusted = SSL_CTX_get_cert_store(context);
  // An intermediate certificate may be trusted without its root, as gRPC does it.
  X509_STORE_set_flags(trusted, X509_V_FLAG_PARTIAL_CHAIN);
  int count = 0;
  while (const Certificate next = NextCertificate(pem.get())) {
    if (X509_STORE_add_cert(trusted, next.get()) != 1 ||
        SSL_CTX_add_client_CA(context, next.get()) != 1) {
      return file.Defect("a certificate in", "cannot be used: " + TlsErrorText());
    }
    ++count;
  }
  if (count == 0) return file.Defect("", "has no certificate in PEM form: " + TlsErrorText());
  if (!IsAtEnd()) return file.Defect("a certificate in", "cannot be read: " + TlsErrorText());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

/// Selects one of the protocols that a client offers (ALPN).
int SelectProtocol(SSL*, const unsigned char** selected, unsigned char* size,
                   const unsigned char* offered, unsigned int offered_size, void* ours) {
  const auto& protocols = *static_cast<const std::string*>(ours);
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(protocols.data()),
                            static_cast<unsigned int>(protocols.size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;  // no_application_protocol
  }
  *selected = found;
  return SSL_TLSEXT_ERR_OK;
}

/// Refuses a client that offers no protocol at all.
int RequireProtocols(SSL* session, int* alert, void*) {
  const unsigned char* offered = nullptr;
  size_t size = 0;
  if (SSL_client_hello_get0_ext(session, TLSEXT_TYPE_application_layer_protocol_negotiation,
                                &offered, &size) == 1) {
    return SSL_CLIENT_HELLO_SUCCESS;
  }
  *alert = SSL_AD_NO_APPLICATION_PROTOCOL;
  return SSL_CLIENT_HELLO_ERROR;
}

}  // namespace

std::string TlsErrorText() {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "no reason is known";
}

base::Result<std::shared_ptr<const TlsCredentials>> TlsCredentials::Load(
    const TlsSettings& settings) {
  ERR_clear_error();
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  if (context == nullptr) return Status::Internal("cannot begin to use TLS: " + TlsErrorText());
  const std::shared_ptr<TlsCredentials> made(new TlsCredentials(context));
  NEREID_RETURN_IF_ERROR(made->SetRules(settings));
  const TlsFiles& files = settings.files;
  PemFile certificate{files.flag_prefix + "server-cert", files.certificate};
  PemFile key{files.flag_prefix + "server-key", files.key};
  PemFile client_roots{files.flag_prefix + "root-cert", files.client_roots};
  NEREID_RETURN_IF_ERROR(UseCertificate(context, certificate));
  NEREID_RETURN_IF_ERROR(UseKey(context, key, certificate));
  if (files.mutual) NEREID_RETURN_IF_ERROR(RequireClients(context, client_roots));
  return std::shared_ptr<const TlsCredentials>(made);
}

Status TlsCredentials::SetRules(const TlsSettings& settings) {
  SSL_CTX_set_options(context_, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // An idle connection keeps no buffers (33 KiB). Bytes are read as many as there are, not a
  // record's head and then its rest.
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context_, 1);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);  // tickets need no cache
  SSL_CTX_set_max_early_data(context_, 0);
  const std::string& id = settings.service;
  const bool done =
      SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION) == 1 &&
      SSL_CTX_set_cipher_list(context_, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1 &&
      SSL_CTX_set1_groups_list(context_, "X25519:P-256:P-384") == 1 &&
      SSL_CTX_set_session_id_context(
          context_, reinterpret_cast<const unsigned char*>(id.data()),
          static_cast<unsigned int>(std::min<size_t>(id.size(), SSL_MAX_SID_CTX_LENGTH))) == 1;
  if (!done) return Status::Internal("cannot set the rules of TLS: " + TlsErrorText());
  for (const std::string& protocol : settings.protocols) {
    protocols_.push_back(static_cast<char>(protocol.size()));
    protocols_.append(protocol);
  }
  if (!protocols_.empty()) SSL_CTX_set_alpn_select_cb(context_, SelectProtocol, &protocols_);
  if (settings.protocol_is_required) {
    SSL_CTX_set_client_hello_cb(context_, RequireProtocols, nullptr);
  }
  return {};
}

SSL* TlsCredentials::NewSession() const { return SSL_new(context_); }

TlsCredentials::Versions TlsCredentials::VersionsOf(const TlsFiles& files) {
  return {base::FileVersionOf(files.certificate), base::FileVersionOf(files.key),
          base::FileVersionOf(files.client_roots)};
}

TlsCredentials::~TlsCredentials() { SSL_CTX_free(context_); }

}  // namespace nereid::frontend::net
