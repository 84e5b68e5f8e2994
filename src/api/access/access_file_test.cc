// SPDX-License-Identifier: Apache-2.0
#include "api/access/access_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/temporary_directory.h"

namespace nereid::api {
namespace {

class AccessFileTest : public ::testing::Test {
 protected:
  /// Replaces the file, as editors and orchestrators do.
  void Write(const std::string& text) {
    std::ofstream(path_ + ".new") << text;
    ASSERT_EQ(rename((path_ + ".new").c_str(), path_.c_str()), 0);
  }

  static std::string RolesOfUid(const AccessFile& file, uint32_t uid) {
    const auto roles = file.policy()->RolesOf({.uid = uid});
    return roles ? RoleWords(*roles) : "nobody";
  }

  std::string ErrorOfOpen() {
    const auto file = AccessFile::Open(path_);
    return file.ok() ? "no error" : file.status().message();
  }

  const std::unique_ptr<base::TemporaryDirectory> directory_ =
      std::move(base::TemporaryDirectory::Create()).value();
  const std::string path_ = directory_->path() + "/access";
};

TEST_F(AccessFileTest, AChangeCounts) {
  Write("uid infer 1\n");
  const auto file = AccessFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(RolesOfUid(**file, 1), "infer");
  Write("uid manage 1\n");
  (*file)->Refresh();
  EXPECT_EQ(RolesOfUid(**file, 1), "manage");
  Write("");
  (*file)->Refresh();
  EXPECT_EQ(RolesOfUid(**file, 1), "nobody");
}

TEST_F(AccessFileTest, AFaultChangesNothing) {
  Write("uid infer 1\n");
  const auto file = AccessFile::Open(path_);
  ASSERT_TRUE(file.ok());
  Write("uid manage 1\nuid nonsense 2\n");
  (*file)->Refresh();
  EXPECT_EQ(RolesOfUid(**file, 1), "infer");
  ASSERT_EQ(unlink(path_.c_str()), 0);
  (*file)->Refresh();
  EXPECT_EQ(RolesOfUid(**file, 1), "infer");
  Write("uid observe 1\n");
  (*file)->Refresh();
  EXPECT_EQ(RolesOfUid(**file, 1), "observe");
}

TEST_F(AccessFileTest, APolicyLivesAsLongAsItIsUsed) {
  Write("uid infer 1\n");
  const auto file = AccessFile::Open(path_);
  ASSERT_TRUE(file.ok());
  const auto before = (*file)->policy();
  Write("uid manage 2\n");
  (*file)->Refresh();
  EXPECT_TRUE(before->RolesOf({.uid = 1}).has_value());
  EXPECT_FALSE(before->RolesOf({.uid = 2}).has_value());
}

TEST_F(AccessFileTest, ErrorsNameTheFile) {
  const std::string prefix = "the access file '" + path_ + "': ";
  EXPECT_EQ(ErrorOfOpen().substr(0, prefix.size()), prefix);
  Write("uid infer 1\nuid infer\n");
  EXPECT_EQ(ErrorOfOpen(), prefix + "line 2: a uid is a number. Got ''");
  Write("uid infer 1\n");
  ASSERT_EQ(chmod(path_.c_str(), 0646), 0);
  EXPECT_EQ(ErrorOfOpen(), prefix + "every user of the machine may write to it. Use chmod o-w");
}

TEST_F(AccessFileTest, TheWatcherEndsWithTheFile) {
  Write("uid infer 1\n");
  auto file = AccessFile::Open(path_);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->StartWatching(std::chrono::hours(1)).ok());
  file->reset();  // at once, not after an hour
}

}  // namespace
}  // namespace nereid::api
