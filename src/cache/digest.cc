// SPDX-License-Identifier: Apache-2.0
#include "cache/digest.h"

#include <openssl/evp.h>

#include <memory>

#include "base/hex_text.h"

namespace nereid::cache {
namespace {

/// Fields up to this size are collected; larger ones are hashed in place.
constexpr size_t kSmallBytes = 256;

/// Looked up once, because a look-up by name costs more than hashing a small request.
const EVP_MD* Sha256() {
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  return sha256;
}

}  // namespace

std::string ToHex(const Digest& digest) { return base::HexText(digest); }

DigestWriter::DigestWriter() : context_(EVP_MD_CTX_new()) {
  small_.reserve(4 * kSmallBytes);
  if (context_ == nullptr) return;
  if (Sha256() == nullptr || EVP_DigestInit_ex2(context_, Sha256(), nullptr) != 1) {
    EVP_MD_CTX_free(context_);
    context_ = nullptr;
  }
}

DigestWriter::~DigestWriter() { EVP_MD_CTX_free(context_); }

void DigestWriter::Number(uint64_t value) {
  char bytes[8];
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  Raw(bytes, sizeof(bytes));
}

void DigestWriter::Text(std::string_view value) {
  Number(value.size());
  Raw(value.data(), value.size());
}

void DigestWriter::Raw(const void* data, size_t size) {
  if (size <= kSmallBytes) {
    small_.append(static_cast<const char*>(data), size);
    if (small_.size() > 3 * kSmallBytes) Flush();
    return;
  }
  Flush();
  if (context_ != nullptr && EVP_DigestUpdate(context_, data, size) != 1) {
    EVP_MD_CTX_free(context_);
    context_ = nullptr;
  }
}

void DigestWriter::Flush() {
  if (context_ != nullptr && EVP_DigestUpdate(context_, small_.data(), small_.size()) != 1) {
    EVP_MD_CTX_free(context_);
    context_ = nullptr;
  }
  small_.clear();
}

std::optional<Digest> DigestWriter::Finish() {
  Flush();
  Digest digest;
  unsigned int size = 0;
  if (context_ == nullptr || EVP_DigestFinal_ex(context_, digest.data(), &size) != 1 ||
      size != digest.size()) {
    return std::nullopt;
  }
  return digest;
}

}  // namespace nereid::cache
