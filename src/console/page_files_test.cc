// SPDX-License-Identifier: Apache-2.0
#include "console/page_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace nereid::console {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PageFiles, AreInTheProgram) {
  std::set<std::string> tags;
  for (const PageFile& file : AllPageFiles()) {
    EXPECT_FALSE(file.bytes.empty()) << file.name;
    EXPECT_EQ(FindPageFile(file.name), &file);
    tags.insert(EntityTag(file.bytes));
  }
  EXPECT_EQ(tags.size(), AllPageFiles().size());
  EXPECT_EQ(FindPageFile("other"), nullptr);
  EXPECT_EQ(FindPageFile(""), nullptr);
}

TEST(PageFiles, EveryFileThatTheyNameExists) {
  const std::regex reference(R"re(/console/files/([\w.]+)|from "\./([\w.]+)")re");
  for (const PageFile& file : AllPageFiles()) {
    const std::string text(file.bytes);
    for (std::sregex_iterator found(text.begin(), text.end(), reference), end; found != end;
         ++found) {
      EXPECT_NE(FindPageFile((*found)[1].str() + (*found)[2].str()), nullptr) << found->str();
    }
  }
}

// What the Content-Security-Policy forbids, and what would make markup of texts.
TEST(PageFiles, HaveNoInlineScriptsOrStylesAndMakeNoMarkup) {
  for (const PageFile& file : AllPageFiles()) {
    const std::string text(file.bytes);
    for (const char* word :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
          "DOMParser", "style=\"", "onclick=", "javascript:", "http://cdn", "https://"}) {
      EXPECT_THAT(text, Not(HasSubstr(word))) << file.name;
    }
  }
  const std::string page(FindPageFile("index.html")->bytes);
  EXPECT_THAT(page, Not(HasSubstr("<style")));
  EXPECT_THAT(page, HasSubstr("<script type=\"module\" src=\"/console/files/main.js\"></script>"));
}

TEST(PageFiles, EntityTags) {
  EXPECT_EQ(EntityTag(""), "\"cbf29ce484222325\"");
  EXPECT_NE(EntityTag("a"), EntityTag("b"));
  EXPECT_TRUE(HasEntityTag("W/\"x\", \"cbf29ce484222325\"", EntityTag("")));
  EXPECT_FALSE(HasEntityTag("", EntityTag("")));
}

}  // namespace
}  // namespace nereid::console
