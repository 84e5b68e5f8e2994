// SPDX-License-Identifier: Apache-2.0
#include "layout/torchscript_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace nereid::layout {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Model(const std::string& name) {
  const char* const source = std::getenv("NEREID_SOURCE_DIR");
  std::ifstream file(
      std::string(source == nullptr ? "." : source) + "/tests/data/pytorch/" + name + "/1/model.pt",
      std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TorchScriptModule Read(const std::string& name) {
  const std::string bytes = Model(name);
  const auto module = ReadTorchScript(base::StringSource(bytes));
  EXPECT_TRUE(module.ok()) << name << ": " << module.status().message();
  return module.ok() ? *module : TorchScriptModule();
}

TEST(TorchScriptFileTest, ReadsRealModels) {
  const TorchScriptModule same = Read("same");
  ASSERT_EQ(same.arguments.size(), 1u);
  EXPECT_EQ(same.arguments[0].name, "x");
  EXPECT_THAT(same.results, ElementsAre("Tensor"));
  EXPECT_THAT(same.state, IsEmpty());
  for (const char* name : {"convolution", "dense", "saved_by_1_13", "defaults", "dictionary_in",
                           "by_argument", "recurrent"}) {
    EXPECT_THAT(Read(name).arguments, testing::Not(IsEmpty())) << name;
  }
}

TEST(TorchScriptFileTest, FindsStateInRealModels) {
  EXPECT_THAT(Read("keeps").state, testing::Not(IsEmpty()));
  EXPECT_THAT(Read("convolution").state, IsEmpty());
}

TEST(TorchScriptFileTest, SurvivesAnyDamage) {
  EXPECT_FALSE(ReadTorchScript(base::StringSource("")).ok());
  const std::string good = Model("convolution");
  ASSERT_FALSE(good.empty());
  uint32_t seed = 5;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = good;
    for (int k = 0; k < 8; ++k) {
      seed = seed * 1664525 + 1013904223;
      damaged[(seed >> 4) % damaged.size()] = static_cast<char>(seed >> 24);
    }
    (void)ReadTorchScript(base::StringSource(damaged));
  }
}

}  // namespace
}  // namespace nereid::layout
