// SPDX-License-Identifier: Apache-2.0
#include "pytorch/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace nereid::pytorch {
namespace {

using testing::HasSubstr;

std::string Model() {
  const char* source = std::getenv("NEREID_SOURCE_DIR");
  std::ifstream file(std::filesystem::path(source == nullptr ? "." : source) /
                         "tests/data/pytorch/convolution/1/model.pt",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string Check(const std::string& content, ArchiveSizes* sizes) {
  const std::string path = testing::TempDir() + "/archive_test.pt";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  return CheckArchive(path, sizes).message();
}

std::string Check(const std::string& content) {
  ArchiveSizes sizes;
  return Check(content, &sizes);
}

TEST(Archive, AModelIsFine) {
  const std::string model = Model();
  ASSERT_FALSE(model.empty());
  ArchiveSizes sizes;
  EXPECT_EQ(Check(model, &sizes), "");
  EXPECT_EQ(sizes.file, model.size());
  EXPECT_GT(sizes.records, 5U);
  EXPECT_GT(sizes.unpacked, 1000U);
  EXPECT_LT(sizes.unpacked, 100000U);
}

TEST(Archive, WhatIsNone) {
  EXPECT_THAT(Check(""), HasSubstr("empty"));
  EXPECT_THAT(Check(std::string(100, 'x')), HasSubstr("no ZIP archive"));
  EXPECT_THAT(Check(Model().substr(0, 5000)), HasSubstr("no ZIP archive"));
  EXPECT_THAT(Check("PK\x05\x06" + std::string(18, '\0')), HasSubstr("list of records"));
}

/// The sizes that the list gives, one record's changed to 4 GiB.
TEST(Archive, ABombIsFoundBeforeItIsUnpacked) {
  std::string model = Model();
  const size_t entry = model.find("PK\x01\x02");
  ASSERT_NE(entry, std::string::npos);
  model.replace(entry + 24, 4, "\xFE\xFF\xFF\xFF");
  EXPECT_THAT(Check(model), HasSubstr("more than any model"));
}

TEST(Archive, AnyDamageIsSurvived) {
  const std::string model = Model();
  const size_t list = model.find("PK\x01\x02");
  uint32_t seed = 7;
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = model;
    for (int k = 0; k < 4; ++k) {
      seed = seed * 1664525 + 1013904223;
      damaged[list + (seed >> 4) % (model.size() - list)] = static_cast<char>(seed >> 24);
    }
    Check(damaged);
  }
}

}  // namespace
}  // namespace nereid::pytorch
