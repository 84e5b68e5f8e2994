// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/graph_state.h"

#include <gtest/gtest.h>

#include "tensorflow/graph_writer.h"

namespace nereid::tensorflow {
namespace {

using namespace testing;  // NOLINT: the writer

bool Keeps(const std::string& graph, const std::vector<std::string>& outputs = {"y"}) {
  return MayKeepInputs(graph, outputs, FindOp);
}

const std::string kX = Node("x", "Placeholder", {});
const std::string kVariable = Node("v", "VarHandleOp", {});
const std::string kAssign = Node("set", "AssignVariableOp", {"v", "x"});

TEST(GraphStateTest, ReadingKeepsNothing) {
  EXPECT_FALSE(Keeps(Graph({kX, Node("y", "Identity", {"x"})})));
  EXPECT_FALSE(Keeps(Graph(
      {kX, kVariable, Node("r", "ReadVariableOp", {"v"}), Node("y", "MatMul", {"x:0", "r"})})));
}

TEST(GraphStateTest, WritingDoesWhereAnOutputNeedsIt) {
  EXPECT_TRUE(Keeps(Graph({kX, kVariable, kAssign, Node("y", "Identity", {"x", "^set"})})));
  // Such as the operations that restore a SavedModel's variables.
  EXPECT_FALSE(Keeps(Graph({kX, kVariable, kAssign, Node("y", "Identity", {"x"})})));
  EXPECT_TRUE(Keeps(Graph({kX, kVariable, kAssign, Node("y", "Identity", {"x"})}), {"y", "set"}));
}

TEST(GraphStateTest, UnknownOperationsMayKeep) {
  EXPECT_TRUE(Keeps(Graph({kX, Node("y", "Frob", {"x"})})));
}

TEST(GraphStateTest, Functions) {
  const std::string call = Node("y", "StatefulPartitionedCall", {"x"}, {{"f", Called("outer")}});
  const std::string outer =
      Function("outer", 1, 1, {Node("i", "PartitionedCall", {"a"}, {{"f", Called("inner")}})});
  const std::string reads = Function("inner", 1, 1, {Node("r", "ReadVariableOp", {"a"})});
  const std::string writes = Function("inner", 1, 1, {kAssign});
  EXPECT_FALSE(Keeps(Graph({kX, call}, {outer, reads})));
  EXPECT_TRUE(Keeps(Graph({kX, call}, {outer, writes})));
  // An operation that is a function; a list of functions; a function that calls itself.
  EXPECT_TRUE(Keeps(Graph({kX, Node("y", "inner", {"x"})}, {writes})));
  const std::string list = Text(1, Text(9, Text(1, "inner")));
  EXPECT_TRUE(Keeps(Graph({kX, Node("y", "Identity", {"x"}, {{"branches", list}})}, {writes})));
  EXPECT_FALSE(Keeps(Graph({kX, Node("y", "inner", {"x"})},
                           {Function("inner", 1, 1, {Node("i", "inner", {"a"})})})));
}

TEST(GraphStateTest, Cycles) {
  EXPECT_FALSE(Keeps(Graph({Node("y", "Identity", {"z"}), Node("z", "Identity", {"y"})})));
}

}  // namespace
}  // namespace nereid::tensorflow
