// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/digest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/hex_text.h"
#include "base/temporary_directory.h"

namespace nereid::repository::mirror {
namespace {

using storage::ObjectChecksum;

std::string Hex(const std::string& bytes) {
  return base::HexText({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

TEST(Digest, HasTheValuesOfTheStandards) {
  // FIPS 180-4, RFC 1321, and the check value of CRC-32C.
  EXPECT_EQ(Sha256Text("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Crc32c(0, "123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(Crc32c(0, "1234"), "56789"), 0xe3069283u);
}

TEST(Digest, ReadsAWholeFile) {
  const auto directory = base::TemporaryDirectory::Create();
  ASSERT_TRUE(directory.ok());
  const std::string path = (*directory)->path() + "/file";
  const std::string content(3'000'001, 'x');
  std::ofstream(path) << content;
  const auto plain = DigestFile(path);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->size, content.size());
  EXPECT_EQ(plain->sha256, Sha256Text(content));
  EXPECT_EQ(plain->checksum, "");
  std::ofstream(path) << "123456789";
  const auto crc = DigestFile(path, ObjectChecksum::Kind::kCrc32c);
  ASSERT_TRUE(crc.ok());
  EXPECT_EQ(Hex(crc->checksum), "e3069283");
  const auto md5 = DigestFile(path, ObjectChecksum::Kind::kMd5);
  ASSERT_TRUE(md5.ok());
  EXPECT_EQ(Hex(md5->checksum), "25f9e794323b453885f5181f1b624d0b");
  EXPECT_EQ(DigestFile(path + "2").status().code(), base::StatusCode::kInternal);
}

TEST(Digest, RecognizesTheTextOfASha256) {
  EXPECT_TRUE(IsSha256Text(std::string(64, 'a')));
  EXPECT_FALSE(IsSha256Text(std::string(63, 'a')));
  EXPECT_FALSE(IsSha256Text(std::string(64, 'A')));
  EXPECT_FALSE(IsSha256Text("../" + std::string(61, 'a')));
}

}  // namespace
}  // namespace nereid::repository::mirror
