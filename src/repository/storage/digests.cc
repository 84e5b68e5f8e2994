// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/digests.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "base/hex_text.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* Bytes(std::string* text) { return reinterpret_cast<unsigned char*>(text->data()); }

/// Refuses to ask the terminal for a passphrase.
int NoPassphrase(char*, int, int, void*) { return 0; }

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

std::string Sha256(std::string_view data) {
  std::string digest(32, '\0');
  if (EVP_Digest(data.data(), data.size(), Bytes(&digest), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
  return digest;
}

std::string HmacSha256(std::string_view key, std::string_view data) {
  std::string digest(32, '\0');
  if (key.size() > INT_MAX || HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                   Bytes(data), data.size(), Bytes(&digest), nullptr) == nullptr) {
    throw std::bad_alloc();
  }
  return digest;
}

std::string HexOf(std::string_view bytes) {
  return base::HexText({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

std::string Base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // EVP_EncodeBlock adds a NUL
  const int size = EVP_EncodeBlock(Bytes(&text), Bytes(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

std::string Base64Url(std::string_view bytes) {
  std::string text = Base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(kBlanks) + 1));
  if (text.empty() || text.size() % 4 != 0 || text.size() > size_t{1} << 20) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  if (text.find('=') < text.size() - padding) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(Bytes(&bytes), Bytes(text), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(static_cast<size_t>(size) - padding);  // EVP_DecodeBlock counts the padding
  return bytes;
}

base::Result<std::string> SignRs256(std::string_view key, std::string_view data) {
  const Status bad_key =
      Status::InvalidArgument("the private key is not a key in PEM without a passphrase");
  if (key.size() > INT_MAX) return bad_key;
  const std::unique_ptr<BIO, FreeBio> text(
      BIO_new_mem_buf(key.data(), static_cast<int>(key.size())));
  if (text == nullptr) return Status::Unavailable("out of memory");
  const std::unique_ptr<EVP_PKEY, FreeKey> parsed(
      PEM_read_bio_PrivateKey(text.get(), nullptr, &NoPassphrase, nullptr));
  if (parsed == nullptr) return bad_key;
  if (EVP_PKEY_get_base_id(parsed.get()) != EVP_PKEY_RSA) {
    return Status::InvalidArgument("the private key is not an RSA key");
  }
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  size_t size = 0;
  if (context == nullptr ||
      EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, parsed.get()) != 1 ||
      EVP_DigestSign(context.get(), nullptr, &size, Bytes(data), data.size()) != 1) {
    return Status::Internal("the private key cannot sign");
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(context.get(), Bytes(&signature), &size, Bytes(data), data.size()) != 1) {
    return Status::Internal("the private key cannot sign");
  }
  signature.resize(size);
  return signature;
}

}  // namespace nereid::repository::storage
