// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/digest.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "base/hex_text.h"

namespace nereid::repository::mirror {

using base::Status;
using storage::ObjectChecksum;

namespace {

constexpr size_t kReadBytes = 1 << 20;

/// One digest of OpenSSL. After a failure (no memory, or an algorithm that the library's settings
/// forbid) its text is empty.
class Digest {
 public:
  explicit Digest(const EVP_MD* algorithm) : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    ok_ = context_ != nullptr && EVP_DigestInit_ex(context_.get(), algorithm, nullptr) == 1;
  }
  void Update(std::string_view bytes) {
    ok_ = ok_ && EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
  }
  std::string Bytes() {
    std::array<uint8_t, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    if (!ok_ || EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) != 1) return {};
    return {bytes.begin(), bytes.begin() + size};
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
  bool ok_ = false;
};

std::string Hex(const std::string& bytes) {
  return base::HexText({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

/// The remainders of all bytes for the reflected polynomial of CRC-32C.
constexpr std::array<uint32_t, 256> MakeCrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    table[byte] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = MakeCrcTable();

std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

Status ReadFailure(const std::string& path) {
  return Status::Internal("failed to read '" + path + "': " + std::strerror(errno));
}

}  // namespace

uint32_t Crc32c(uint32_t crc, std::string_view bytes) {
  crc = ~crc;
  for (const char c : bytes) {
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return ~crc;
}

base::Result<ContentDigest> DigestFile(const std::string& path,
                                       std::optional<ObjectChecksum::Kind> checksum) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (file == nullptr) return ReadFailure(path);
  Digest sha256(EVP_sha256());
  const bool with_md5 = checksum == ObjectChecksum::Kind::kMd5;
  Digest md5(with_md5 ? EVP_md5() : EVP_sha256());
  uint32_t crc = 0;
  ContentDigest digest;
  std::vector<char> buffer(kReadBytes);
  while (true) {
    const size_t size = std::fread(buffer.data(), 1, buffer.size(), file.get());
    if (size == 0) break;
    const std::string_view piece(buffer.data(), size);
    sha256.Update(piece);
    if (with_md5) md5.Update(piece);
    if (checksum == ObjectChecksum::Kind::kCrc32c) crc = Crc32c(crc, piece);
    digest.size += size;
  }
  if (std::ferror(file.get()) != 0) return ReadFailure(path);
  digest.sha256 = Hex(sha256.Bytes());
  if (digest.sha256.empty()) return Status::Internal("the SHA-256 of '" + path + "' failed");
  if (with_md5) digest.checksum = md5.Bytes();
  if (checksum == ObjectChecksum::Kind::kCrc32c) digest.checksum = BigEndian(crc);
  return digest;
}

std::string Sha256Text(std::string_view text) {
  Digest sha256(EVP_sha256());
  sha256.Update(text);
  return Hex(sha256.Bytes());
}

bool IsSha256Text(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace nereid::repository::mirror
