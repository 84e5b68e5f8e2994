// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/graph_check.h"

#include <gtest/gtest.h>

#include "tensorflow/graph_writer.h"

namespace nereid::tensorflow {
namespace {

using namespace testing;  // NOLINT: the writer

constexpr int64_t kFloat = 1;

std::string Check(const std::string& graph) { return CheckGraphDef(graph, "m", FindOp).message(); }

const std::string kX = Node("x", "Placeholder", {});

TEST(GraphCheckTest, AGraph) {
  EXPECT_EQ(Check(Graph({kX, Node("y", "AddN", {"x", "x", "^x"}, {{"N", Number(3, 2)}})})), "");
  EXPECT_EQ(Check(""), "");
  EXPECT_EQ(Check("\xff\xff\xff"), "");  // TensorFlow says so itself
}

TEST(GraphCheckTest, UnknownOperation) {
  EXPECT_EQ(Check(Graph({kX, Node("y", "Frob", {"x"})})),
            "m: node 'y' is of the operation 'Frob', which this TensorFlow does not have");
  EXPECT_EQ(Check(Graph({Node("y", "Fr\xff\n", {})})),
            "m: node 'y' is of the operation 'Fr\\xff\n', which this TensorFlow does not have");
  // An operation may be a function of the graph; the nodes of functions are looked at as well.
  EXPECT_EQ(Check(Graph({Node("y", "f", {})}, {Function("f", 0, 0, {})})), "");
  EXPECT_EQ(Check(Graph({}, {Function("f", 0, 0, {Node("z", "Frob", {})})})),
            "m: node 'z' is of the operation 'Frob', which this TensorFlow does not have");
}

TEST(GraphCheckTest, CountsOfInputsAndOutputs) {
  EXPECT_EQ(Check(Graph({Node("y", "AddN", {"x", "^c"}, {{"N", Number(3, 2)}})})),
            "m: node 'y' (AddN) counts 2 inputs in its attribute 'N', more than the 1 that can be");
  EXPECT_NE(Check(Graph({Node("y", "AddN", {"x"}, {{"N", Number(3, -1)}})})), "");
  EXPECT_EQ(Check(Graph({Node("y", "Unpack", {"x"}, {{"num", Number(3, 1000)}})})), "");
  EXPECT_NE(Check(Graph({Node("y", "Unpack", {"x"}, {{"num", Number(3, int64_t{1} << 31)}})})), "");
}

TEST(GraphCheckTest, AttributesWithoutAValue) {
  const std::string node = Node("y", "Identity", {"x"}, {{"T", Text(9, "T")}});
  EXPECT_EQ(Check(Graph({node})), "m: node 'y' (Identity) has no value for its attribute 'T'");
  EXPECT_EQ(Check(Graph({}, {Function("f", 0, 0, {node})})), "");
}

std::string Constant(const std::string& value, int64_t type = kFloat) {
  return Graph({Node("c", "Const", {}, {{"dtype", Type(type)}, {"value", value}})});
}

TEST(GraphCheckTest, Constants) {
  EXPECT_EQ(Check(Constant(Tensor(kFloat, {2, 2}, std::string(16, 'a')))), "");
  EXPECT_EQ(Check(Constant(Tensor(kFloat, {}, "abcd"))), "");
  EXPECT_EQ(Check(Constant(Tensor(kFloat, {1 << 14, 1 << 14}, "abcd"))), "");  // filled
  const std::string impossible =
      "m: node 'c' (Const) holds a tensor of impossible shape in its attribute 'value'";
  EXPECT_EQ(Check(Constant(Tensor(kFloat, {int64_t{1} << 62, 4}, ""))), impossible);
  EXPECT_EQ(Check(Constant(Tensor(kFloat, {-1}, ""))), impossible);
  EXPECT_EQ(Check(Constant(Tensor(kFloat, {1 << 15, 1 << 14}, ""))), impossible);
  EXPECT_EQ(Check(Constant(Tensor(7, {1 << 14, 1 << 14}, ""), 7)), impossible);
  EXPECT_EQ(Check(Constant(Tensor(4, {}, "a"))),
            "m: node 'c' (Const) holds a tensor that is not of its type");
}

std::string Call(const std::string& function, int arguments, int results) {
  return Graph(
      {Node("y", "PartitionedCall", {},
            {{"f", Called(function)}, {"Tin", Types(arguments)}, {"Tout", Types(results)}})},
      {Function("f", 2, 1, {})});
}

TEST(GraphCheckTest, Calls) {
  EXPECT_EQ(Check(Call("f", 2, 1)), "");
  EXPECT_EQ(Check(Call("g", 2, 1)),
            "m: node 'y' (PartitionedCall) calls the function 'g', which the graph lacks");
  for (const auto& [arguments, results] : {std::pair(1, 1), {3, 1}, {2, 0}, {2, 2}}) {
    EXPECT_EQ(Check(Call("f", arguments, results)),
              "m: node 'y' (PartitionedCall) does not fit the function 'f', which has 2 arguments "
              "and 1 results");
  }
}

}  // namespace
}  // namespace nereid::tensorflow
