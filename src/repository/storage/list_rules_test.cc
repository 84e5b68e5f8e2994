// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/list_rules.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

using base::StatusCode;

TEST(IsFileKey, RefusesWhatLeavesADirectory) {
  for (const char* good : {"a", "a/b", "a/b/", "...", "a/.b", "a b", "\xC3\xA9", "a/..b"}) {
    EXPECT_TRUE(IsFileKey(good)) << good;
  }
  for (const char* bad : {"", "/", "/a", "a//b", "a//", "..", "../a", "a/../b", "a/..", "a/../",
                          ".", "./a", "a/.", "a\nb", "a\x7f"}) {
    EXPECT_FALSE(IsFileKey(bad)) << bad;
  }
  EXPECT_FALSE(IsFileKey(std::string("a\0b", 3)));
  EXPECT_TRUE(IsFileKey(std::string(1024, 'a')));
  EXPECT_FALSE(IsFileKey(std::string(1025, 'a')));
}

ObjectPage PageOf(std::vector<std::string> keys) {
  ObjectPage page;
  for (std::string& key : keys) page.objects.push_back({std::move(key), 1, "v"});
  return page;
}

TEST(CheckPage, RemovesKeysThatNoFileCanHave) {
  ObjectPage page = PageOf({"p/a", "p/../etc", "p//b", "p/c"});
  page.directories = {"p/d/", "p/../"};
  EXPECT_TRUE(CheckPage("p/", "", &page).ok());
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[1].key, "p/c");
  EXPECT_EQ(page.directories, std::vector<std::string>{"p/d/"});
}

TEST(CheckPage, RefusesAnAnswerToSomethingElse) {
  ObjectPage other = PageOf({"q/a"});
  EXPECT_EQ(CheckPage("p/", "", &other).code(), StatusCode::kInternal);
  ObjectPage unversioned = PageOf({"p/a"});
  unversioned.objects[0].version.clear();
  EXPECT_EQ(CheckPage("p/", "", &unversioned).code(), StatusCode::kInternal);
  ObjectPage same = PageOf({});
  same.next_page = "token";
  EXPECT_TRUE(CheckPage("p/", "", &same).ok());
  EXPECT_TRUE(CheckPage("p/", "earlier", &same).ok());
  EXPECT_EQ(CheckPage("p/", "token", &same).code(), StatusCode::kInternal);
  for (const char* directory : {"p/a", "q/", ""}) {
    ObjectPage page;
    page.directories = {directory};
    EXPECT_EQ(CheckPage("p/", "", &page).code(), StatusCode::kInternal) << directory;
  }
  ObjectPage large = PageOf(std::vector<std::string>(kMaxPageEntries + 1, "p/a"));
  EXPECT_EQ(CheckPage("p/", "", &large).code(), StatusCode::kInternal);
  ObjectPage token;
  token.next_page = std::string(5000, 't');
  EXPECT_EQ(CheckPage("p/", "", &token).code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace nereid::repository::storage
