// SPDX-License-Identifier: Apache-2.0
#include "pytorch/side_effects.h"

#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/module.h>

namespace nereid::pytorch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns what forward does in a module with the attributes total (a tensor), history (a list of
/// tensors) and count.
SideEffects Of(const std::string& forward) {
  torch::jit::Module module("Example");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_buffer("total", at::zeros({2}));
  module.register_attribute("history", c10::ListType::ofTensors(), c10::List<at::Tensor>());
  module.register_attribute("count", c10::IntType::get(), 0);
  module.define(forward);
  return FindSideEffects(module);
}

TEST(SideEffects, ComputingWithAttributesLeavesNothing) {
  const SideEffects effects = Of(R"(
def forward(self, x):
    y = x + self.total
    y += self.total
    y.relu_()
    parts = [y, y]
    parts.append(x)
    return torch.cat(parts) * self.count
)");
  EXPECT_TRUE(effects.leaves_nothing);
  EXPECT_THAT(effects.changed_attributes, IsEmpty());
}

TEST(SideEffects, AnInputThatIsOnlyReadNeedsNoCopy) {
  EXPECT_THAT(Of("def forward(self, x):\n    return x + self.total\n").borrowable,
              ElementsAre(true));
}

TEST(SideEffects, AnErrorOrALineOfOutputIsNothing) {
  EXPECT_TRUE(Of(R"(
def forward(self, x):
    print(x.size(0))
    assert bool(x.sum() > 0)
    return x
)")
                  .leaves_nothing);
}

struct Change {
  const char* forward;
  const char* attribute;
};

TEST(SideEffects, ChangedAttributesAreNamed) {
  for (const Change& change : {
           Change{"def forward(self, x):\n    self.count = self.count + 1\n    return x\n",
                  "count"},
           Change{"def forward(self, x):\n    self.total = x\n    return x\n", "total"},
           Change{"def forward(self, x):\n    self.total += x\n    return x\n", "total"},
           Change{"def forward(self, x):\n    self.total[0].add_(1.0)\n    return x\n", "total"},
           Change{"def forward(self, x):\n    self.history.append(x)\n    return x\n", "history"},
       }) {
    const SideEffects effects = Of(change.forward);
    EXPECT_FALSE(effects.leaves_nothing) << change.forward;
    EXPECT_THAT(effects.changed_attributes, testing::Contains(change.attribute)) << change.forward;
  }
}

TEST(SideEffects, AnAttributeInAListStaysAnAttribute) {
  EXPECT_FALSE(Of(R"(
def forward(self, x):
    parts = [x, self.total]
    parts[1].add_(1.0)
    return x
)")
                   .leaves_nothing);
}

TEST(SideEffects, AnElementOfAListThatIsAnAttributeBelongsToTheModule) {
  EXPECT_FALSE(Of(R"(
def forward(self, x):
    self.history[0].add_(x)
    return x
)")
                   .leaves_nothing);
}

TEST(SideEffects, TheRandomStateOfTheProcessIsAlsoState) {
  EXPECT_FALSE(Of(R"(
def forward(self, x):
    torch.manual_seed(1)
    return x
)")
                   .leaves_nothing);
}

TEST(SideEffects, CodeOfTrainingIsNeverExecuted) {
  for (const char* condition : {"self.training", "self.training and self.count == 0"}) {
    const SideEffects effects = Of("def forward(self, x):\n    if " + std::string(condition) +
                                   ":\n        self.total += x\n    return x\n");
    EXPECT_TRUE(effects.leaves_nothing) << condition;
    EXPECT_THAT(effects.changed_attributes, IsEmpty()) << condition;
  }
  for (const char* condition : {"not self.training", "self.training or self.count == 0"}) {
    const SideEffects effects = Of("def forward(self, x):\n    if " + std::string(condition) +
                                   ":\n        self.total += x\n    return x\n");
    EXPECT_FALSE(effects.leaves_nothing) << condition;
    EXPECT_THAT(effects.changed_attributes, ElementsAre("total")) << condition;
  }
}

TEST(SideEffects, WrittenArgumentsAreCopied) {
  const SideEffects effects = Of(R"(
def forward(self, x, y):
    x.view(-1).add_(1)
    return x + y
)");
  EXPECT_THAT(effects.borrowable, testing::SizeIs(2));
  EXPECT_FALSE(effects.borrowable[0]);
}

}  // namespace
}  // namespace nereid::pytorch
