// SPDX-License-Identifier: Apache-2.0
// testdata/refused/<case>.pbtxt and .json: texts that are not configurations. The file of the same
// name with the suffix .message contains the error. With NEREID_UPDATE_GOLDEN set, the test
// rewrites the .message files.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "config/parse/parse.h"
#include "config/testing/testdata.h"

namespace nereid::config {
namespace {

std::string Directory() { return TestData("refused"); }

std::vector<std::string> Cases() {
  std::vector<std::string> cases;
  for (const std::string& file : TestDataFiles("refused")) {
    if (!file.ends_with(".message")) cases.push_back(file);
  }
  return cases;
}

class RefusedTextTest : public testing::TestWithParam<std::string> {};

TEST_P(RefusedTextTest, SaysWhereAndWhatIsExpected) {
  const std::string path = Directory() + "/" + GetParam();
  const auto text = base::ReadFile(path);
  ASSERT_TRUE(text.ok());
  const auto config = path.ends_with(".json") ? ParseModelConfigJson(*text)
                                              : ParseModelConfigText(*text, "config.pbtxt");
  ASSERT_FALSE(config.ok()) << "accepted";
  const std::string message = config.status().message() + "\n";
  if (std::getenv("NEREID_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path + ".message") << message;
    GTEST_SKIP() << "written";
  }
  const auto expected = base::ReadFile(path + ".message");
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  EXPECT_EQ(message, *expected) << *text;
}

INSTANTIATE_TEST_SUITE_P(Config, RefusedTextTest, testing::ValuesIn(Cases()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(RefusedTexts, AreThere) { EXPECT_GE(Cases().size(), 80u); }

}  // namespace
}  // namespace nereid::config
