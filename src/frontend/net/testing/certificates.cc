// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace nereid::frontend::net::testing {
namespace {

/// Ends the test program if OpenSSL cannot do something so simple.
template <typename T>
T* Made(T* object) {
  if (object == nullptr) std::abort();
  return object;
}

template <typename WriteTo>
std::string PemOf(const WriteTo& write_to) {
  BIO* const bio = Made(BIO_new(BIO_s_mem()));
  if (write_to(bio) != 1) std::abort();
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

BIO* Reader(const std::string& text) {
  return Made(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

X509* CertificateOf(const std::string& text) {
  BIO* const bio = Reader(text);
  X509* const certificate = Made(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
  BIO_free(bio);
  return certificate;
}

EVP_PKEY* KeyOf(const std::string& text) {
  BIO* const bio = Reader(text);
  EVP_PKEY* const key = Made(PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr));
  BIO_free(bio);
  return key;
}

void AddExtension(X509* certificate, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = Made(X509V3_EXT_conf_nid(nullptr, &context, id, value));
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void AddName(X509_NAME* name, const char* field, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

}  // namespace

Certificate Issue(const std::string& name, const Certificate* issuer, long seconds) {
  static long serial = 0;
  EVP_PKEY* const key = Made(EVP_EC_gen("P-256"));
  X509* const certificate = Made(X509_new());
  X509* const signer = issuer == nullptr ? certificate : CertificateOf(issuer->text);
  EVP_PKEY* const signing_key = issuer == nullptr ? key : KeyOf(issuer->key);
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), seconds);
  X509_set_pubkey(certificate, key);
  X509_NAME* const subject = X509_get_subject_name(certificate);
  AddName(subject, "O", "test");
  AddName(subject, "CN", name);
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  AddExtension(certificate, signer, NID_basic_constraints,
               issuer == nullptr ? "critical,CA:TRUE" : "critical,CA:FALSE");
  AddExtension(certificate, signer, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  if (X509_sign(certificate, signing_key, EVP_sha256()) == 0) std::abort();
  Certificate made;
  made.text = PemOf([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
  made.key = PemOf([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
  if (issuer != nullptr) {
    X509_free(signer);
    EVP_PKEY_free(signing_key);
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  return made;
}

CertificateFiles::CertificateFiles() : directory_(base::TemporaryDirectory::Create().value()) {
  Write("authority.pem", authority.text);
  Write("server.pem", server.text);
  Write("server.key", server.key);
}

TlsSettings CertificateFiles::Settings(bool mutual) const {
  return {.files = {.certificate = path("server.pem"),
                    .key = path("server.key"),
                    .client_roots = path("authority.pem"),
                    .mutual = mutual,
                    .flag_prefix = "--test-"},
          .service = "test",
          .protocols = {}};
}

// A new file has another inode than the one that it replaces, as long as that one exists.
void CertificateFiles::Write(const std::string& name, const std::string& text) const {
  const std::string fresh = path(name) + ".new";
  std::ofstream(fresh, std::ios::binary) << text;
  std::filesystem::rename(fresh, path(name));
}

}  // namespace nereid::frontend::net::testing
