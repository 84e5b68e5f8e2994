// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/graph_state.h"

#include <gtest/gtest.h>

#include "tensorflow/graph_writer.h"

namespace nereid::tensorflow {
namespace {

using namespace testing;  // NOLINT: the writer

bool Changes(const std::string& graph, const std::vector<std::string>& outputs = {"y"}) {
  return MayChangeState(graph, outputs, FindOp);
}

const std::string kX = Node("x", "Placeholder", {});
const std::string kVariable = Node("v", "VarHandleOp", {});
const std::string kAssign = Node("set", "AssignVariableOp", {"v", "x"});

TEST(GraphStateTest, ReadingChangesNothing) {
  EXPECT_FALSE(Changes(Graph({kX, Node("y", "Identity", {"x"})})));
  EXPECT_FALSE(Changes(Graph(
      {kX, kVariable, Node("r", "ReadVariableOp", {"v"}), Node("y", "MatMul", {"x:0", "r"})})));
}

TEST(GraphStateTest, WritingDoesWhereAnOutputNeedsIt) {
  EXPECT_TRUE(Changes(Graph({kX, kVariable, kAssign, Node("y", "Identity", {"x", "^set"})})));
  // Such as the operations that restore a SavedModel's variables.
  EXPECT_FALSE(Changes(Graph({kX, kVariable, kAssign, Node("y", "Identity", {"x"})})));
  EXPECT_TRUE(Changes(Graph({kX, kVariable, kAssign, Node("y", "Identity", {"x"})}), {"y", "set"}));
}

TEST(GraphStateTest, UnknownOperationsMayChangeState) {
  EXPECT_TRUE(Changes(Graph({kX, Node("y", "Frob", {"x"})})));
}

TEST(GraphStateTest, Functions) {
  const std::string call = Node("y", "StatefulPartitionedCall", {"x"}, {{"f", Called("outer")}});
  const std::string outer =
      Function("outer", 1, 1, {Node("i", "PartitionedCall", {"a"}, {{"f", Called("inner")}})});
  const std::string reads = Function("inner", 1, 1, {Node("r", "ReadVariableOp", {"a"})});
  const std::string writes = Function("inner", 1, 1, {kAssign});
  EXPECT_FALSE(Changes(Graph({kX, call}, {outer, reads})));
  EXPECT_TRUE(Changes(Graph({kX, call}, {outer, writes})));
  // An operation that is a function; a list of functions; a function that calls itself.
  EXPECT_TRUE(Changes(Graph({kX, Node("y", "inner", {"x"})}, {writes})));
  const std::string list = Text(1, Text(9, Text(1, "inner")));
  EXPECT_TRUE(Changes(Graph({kX, Node("y", "Identity", {"x"}, {{"branches", list}})}, {writes})));
  EXPECT_FALSE(Changes(Graph({kX, Node("y", "inner", {"x"})},
                             {Function("inner", 1, 1, {Node("i", "inner", {"a"})})})));
}

TEST(GraphStateTest, VariablesOfReferences) {
  const std::string variable = Node("v", "VariableV2", {});
  const std::string assign = Node("set", "Assign", {"v", "x"});
  EXPECT_FALSE(Changes(Graph({kX, variable, assign, Node("y", "MatMul", {"x", "v"})})));
  EXPECT_TRUE(Changes(Graph({kX, variable, assign, Node("y", "MatMul", {"x", "set"})})));
}

TEST(GraphStateTest, TakingAResourceMayChangeIt) {
  EXPECT_TRUE(Changes(Graph({kX, kVariable, Node("y", "ScatterInto", {"v", "x"})})));
}

TEST(GraphStateTest, Cycles) {
  EXPECT_FALSE(Changes(Graph({Node("y", "Identity", {"z"}), Node("z", "Identity", {"y"})})));
}

}  // namespace
}  // namespace nereid::tensorflow
