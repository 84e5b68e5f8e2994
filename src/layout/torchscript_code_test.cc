// SPDX-License-Identifier: Apache-2.0
#include "layout/torchscript_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::layout {
namespace {

using testing::ElementsAre;

std::string Signature(const TorchScriptModule& module) {
  std::string text;
  for (const auto& argument : module.arguments) {
    text += argument.name + ":" + argument.type + (argument.has_default ? "=" : "") + ";";
  }
  return text;
}

TorchScriptModule Read(const std::string& body, const std::string& more = "") {
  return ReadModuleCode({{"__torch__/net", "class Net(Module):\n" + body + more}},
                        "__torch__.net.Net");
}

TEST(TorchScriptCodeTest, ReadsTheSignature) {
  const auto module = Read(
      "  __parameters__ = [\"w\", ]\n  training : bool\n"
      "  def forward(self: __torch__.net.Net,\n    ids: Tensor,\n"
      "    mask: Optional[Tensor]=None,\n    names: List[str]=[\"a, (\", ')'],\n"
      "    scale: float=1.) -> Tuple[Tensor, Dict[str, Tensor]]:\n    return (ids, {})\n"
      "  def other(self: __torch__.net.Net) -> int:\n    return 1\n");
  ASSERT_TRUE(module.has_forward);
  EXPECT_EQ(Signature(module), "ids:Tensor;mask:Optional[Tensor]=;names:List[str]=;scale:float=;");
  EXPECT_THAT(module.results, ElementsAre("Tensor", "Dict[str, Tensor]"));
  EXPECT_THAT(module.state, ElementsAre());
}

TEST(TorchScriptCodeTest, ReadsNamedTuples) {
  const auto module =
      Read("  def forward(self: __torch__.net.Net,\n    x: Tensor) -> __torch__.net.Out:\n",
           "class Out(NamedTuple):\n  mean : Tensor\n  count : int\n");
  EXPECT_THAT(module.results, ElementsAre("Tensor", "int"));
  EXPECT_THAT(module.result_names, ElementsAre("mean", "count"));
}

TEST(TorchScriptCodeTest, FindsState) {
  const auto module = Read(
      "  def forward(self: __torch__.net.Net, x: Tensor) -> Tensor:\n"
      "    y = torch.add(x, 1)\n    self.hidden = y\n    _0 = self.rnn\n"
      "    (_0).cell = x\n    _0.cell = x\n    print(\"a.b = c\")\n    return y\n");
  EXPECT_THAT(module.state, ElementsAre("cell", "hidden"));
}

TEST(TorchScriptCodeTest, WhatIsNotThere) {
  EXPECT_FALSE(Read("").has_forward);
  EXPECT_FALSE(Read("  def forward(self: __torch__.net.Net, x: Ten").has_forward);
  EXPECT_FALSE(ReadModuleCode({}, "__torch__.net.Net").has_forward);
  EXPECT_FALSE(ReadModuleCode({{"__torch__/net", "class Network(Module):\n"}}, "").has_forward);
  EXPECT_EQ(RootClassOf("\x80\x02"
                        "c__torch__.net\nNet\nq"),
            "__torch__.net.Net");
  EXPECT_EQ(RootClassOf("\x80\x02"
                        "c__torch__.net\nNet"),
            "");
  EXPECT_EQ(RootClassOf(""), "");
}

}  // namespace
}  // namespace nereid::layout
