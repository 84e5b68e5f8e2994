// SPDX-License-Identifier: Apache-2.0
#include "repository/settle/checksum_list.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "repository/mirror/digest.h"

namespace nereid::repository {
namespace {

const std::string kDigest(64, 'a');

TEST(ParseChecksumListTest, ReadsTheOutputOfSha256sum) {
  const auto list =
      ParseChecksumList(kDigest + "  ./config.pbtxt\n" + std::string(64, 'B') + " *1/a b\r\n\n");
  ASSERT_TRUE(list.ok()) << list.status().message();
  EXPECT_EQ(*list, (ChecksumList{{"config.pbtxt", kDigest}, {"1/a b", std::string(64, 'b')}}));
}

TEST(ParseChecksumListTest, NamesWhatIsWrong) {
  const auto error = [](const std::string& text) {
    return ParseChecksumList(text).status().message();
  };
  EXPECT_EQ(error("short  f\n"),
            "nereid.sha256, line 1: expected 64 hexadecimal digits, two blanks and a path");
  EXPECT_EQ(error(kDigest + "  f\n" + std::string(64, 'g') + "  g\n"),
            "nereid.sha256, line 2: expected 64 hexadecimal digits, two blanks and a path");
  for (const char* path : {"../f", "a/../f", "/f", "a//f", "a/"}) {
    EXPECT_EQ(error(kDigest + "  " + path),
              "nereid.sha256, line 1: the path '" + std::string(path) + "' is not below the model");
  }
  EXPECT_EQ(error(kDigest + "  f\n" + kDigest + "  ./f\n"),
            "nereid.sha256, line 2: the path 'f' is listed twice");
}

class CheckAgainstListTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = base::TemporaryDirectory::Create().value();
    root_ = directory_->path();
    std::filesystem::create_directories(root_ / "1" / "__pycache__");
    Write("config.pbtxt", "c");
    Write("1/model.py", "m");
    Write("1/__pycache__/model.pyc", "of the runtime");
  }
  void Write(const std::string& path, const std::string& content) {
    std::ofstream(root_ / path) << content;
  }
  std::string Line(const std::string& path, const std::string& content) {
    return mirror::Sha256Text(content) + "  " + path + "\n";
  }
  std::string Check() {
    const auto marks = ReadTreeMarks(root_.string());
    return marks.ok() ? CheckAgainstList(root_.string(), *marks).message()
                      : marks.status().message();
  }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  std::filesystem::path root_;
};

TEST_F(CheckAgainstListTest, TheFilesMustBeThoseOfTheList) {
  EXPECT_EQ(Check(), "") << "no list";
  Write("nereid.sha256", Line("config.pbtxt", "c"));
  EXPECT_EQ(Check(), "the file '1/model.py' is not in nereid.sha256");
  Write("nereid.sha256", Line("config.pbtxt", "c") + Line("1/model.py", "m"));
  EXPECT_EQ(Check(), "");
  Write("1/model.py", "n");
  EXPECT_EQ(Check(), "the file '1/model.py' has not the SHA-256 of nereid.sha256");
  std::filesystem::remove(root_ / "1/model.py");
  EXPECT_EQ(Check(), "the file '1/model.py' is missing, but is in nereid.sha256");
  Write("nereid.sha256", "cut");
  EXPECT_EQ(Check(),
            "nereid.sha256, line 1: expected 64 hexadecimal digits, two blanks and a path");
}

}  // namespace
}  // namespace nereid::repository
