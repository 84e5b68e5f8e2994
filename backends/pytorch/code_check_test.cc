// SPDX-License-Identifier: Apache-2.0
#include "pytorch/code_check.h"

#include <gtest/gtest.h>

#include <string>

namespace nereid::pytorch {
namespace {

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST(CodeCheck, WhatPyTorchWritesIsShallow) {
  EXPECT_LT(DeepestExpression("class Dense(Module):\n"
                              "  __parameters__ = []\n"
                              "  def forward(self: __torch__.modules.Dense,\n"
                              "    x: Tensor) -> Tensor:\n"
                              "    layer = self.layer\n"
                              "    return torch.relu((layer).forward(x, ))\n"),
            30U);
}

TEST(CodeCheck, EveryWayDownCounts) {
  for (const char* step : {"(", "[", "-", "not ", "x.", "x + ", "x ** ", "x if y else ", "f(x)["}) {
    EXPECT_GE(DeepestExpression("y = " + Repeated(step, 1000)), 1000U) << step;
  }
  EXPECT_GE(DeepestExpression("f" + Repeated("(x)", 1000)), 1000U);
  EXPECT_GE(DeepestExpression("\n" + std::string(1000, ' ') + "x"), 1000U);
  EXPECT_GE(DeepestExpression(Repeated("f(x, \n", 1000)), 1000U);
}

TEST(CodeCheck, WhatStandsSideBySideDoesNot) {
  EXPECT_LT(DeepestExpression("x = [" + Repeated("-1.5, ", 10000) + "]"), 20U);
  EXPECT_LT(DeepestExpression(Repeated("  x = x + 1\n", 10000)), 20U);
  EXPECT_LT(DeepestExpression("x = [" + Repeated("(1, 2), ", 10000) + "]"), 20U);
}

TEST(CodeCheck, TextsAndCommentsAreNoCode) {
  EXPECT_LT(DeepestExpression("x = \"" + Repeated("(", 1000) + "\"\n"), 20U);
  EXPECT_LT(DeepestExpression("x = \"\\\"" + Repeated("(", 1000) + "\"\n"), 20U);
  EXPECT_LT(DeepestExpression("# " + Repeated("(", 1000) + "\nx"), 20U);
  EXPECT_GE(DeepestExpression("# it's\n" + Repeated("(", 1000)), 1000U);
}

TEST(CodeCheck, UnbalancedBrackets) {
  EXPECT_LT(DeepestExpression(Repeated(")", 1000)), 20U);
  EXPECT_EQ(DeepestBracket("]][[(x)]"), 3U);
  EXPECT_EQ(DeepestBracket(Repeated("[", 2000)), 2000U);
}

}  // namespace
}  // namespace nereid::pytorch
