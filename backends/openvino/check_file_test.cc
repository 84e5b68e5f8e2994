// SPDX-License-Identifier: Apache-2.0
#include "openvino/check_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace nereid::openvino {
namespace {

using ::testing::HasSubstr;

std::string Layer(const std::string& id, const std::string& type, const std::string& content) {
  return R"(<layer id=")" + id + R"(" name="l)" + id + R"(" type=")" + type + R"(">)" + content +
         "</layer>";
}

std::string Edge(int from, int from_port, int to, int to_port) {
  return R"(<edge from-layer=")" + std::to_string(from) + R"(" from-port=")" +
         std::to_string(from_port) + R"(" to-layer=")" + std::to_string(to) + R"(" to-port=")" +
         std::to_string(to_port) + R"("/>)";
}

std::string Net(const std::string& layers, const std::string& edges) {
  return R"(<?xml version="1.0"?><net version="11"><layers>)" + layers + "</layers><edges>" +
         edges + "</edges></net>";
}

const std::string kOut = R"(<output><port id="0"><dim>-1</dim><dim>3</dim></port></output>)";
const std::string kIn = R"(<input><port id="0"/></input>)";
const std::string kInOut = R"(<input><port id="0"/></input><output><port id="1"/></output>)";

std::string Check(const std::string& xml, uint64_t weights = 8) {
  return CheckNetwork("m", xml, weights).message();
}

std::string CheckConst(const std::string& data) {
  return Check(Net(Layer("0", "Const", "<data " + data + "/>" + kOut), ""));
}

TEST(CheckNetworkTest, AWholeOne) {
  EXPECT_EQ(Check(Net(Layer("0", "Parameter", R"(<data shape="?,3"/>)" + kOut) +
                          Layer("1", "ReLU", kInOut) + Layer("2", "Result", kIn),
                      Edge(0, 0, 1, 0) + Edge(1, 1, 2, 0))),
            "");
}

TEST(CheckNetworkTest, WhatIsNoNetwork) {
  EXPECT_EQ(Check(""), "m: it is empty");
  EXPECT_THAT(Check("no xml"), HasSubstr("m: it is no XML: "));
  EXPECT_EQ(Check("<html/>"), "m: it has no network of layers");
  EXPECT_EQ(Check("<net><layers/></net>"), "m: it has no network of layers");
}

TEST(CheckNetworkTest, IdsAreNumbersAndDiffer) {
  EXPECT_EQ(Check(Net(Layer("0", "A", kOut) + Layer("0", "B", kOut), "")),
            "m: layers 'l0' (A, id '0') and 'l0' (B, id '0') have the same id");
  for (const std::string id : {"", "-1", "x", "1x", "99999999999999999999"}) {
    EXPECT_THAT(Check(Net(Layer(id, "A", kOut), "")), HasSubstr("has no number as its id"));
  }
  EXPECT_THAT(Check(Net(Layer("0", "A", R"(<output><port id="0"/><port id="0"/></output>)"), "")),
              HasSubstr("has a port with the id '0', which is no number or is there twice"));
}

TEST(CheckNetworkTest, EdgesNameWhatIsThere) {
  const std::string layers = Layer("0", "Parameter", kOut) + Layer("1", "Result", kIn);
  EXPECT_THAT(Check(Net(layers, Edge(0, 0, 7, 0))), HasSubstr("to layer '7', one of which"));
  EXPECT_THAT(Check(Net(layers, Edge(0, 5, 1, 0))), HasSubstr("names a port that is not there"));
  EXPECT_THAT(Check(Net(layers, Edge(0, 0, 1, 5))), HasSubstr("names a port that is not there"));
  EXPECT_THAT(Check(Net(layers, Edge(0, 0, 1, 0) + Edge(0, 0, 1, 0))),
              HasSubstr("two edges feed the input 0 of layer 'l1'"));
  EXPECT_EQ(Check(Net(layers, "")),
            "m: layer 'l1' (Result, id '1') has 1 inputs, of which edges feed 0");
}

TEST(CheckNetworkTest, CirclesAreFound) {
  EXPECT_EQ(Check(Net(Layer("0", "ReLU", kInOut) + Layer("1", "ReLU", kInOut),
                      Edge(0, 1, 1, 0) + Edge(1, 1, 0, 0))),
            "m: its edges form a circle");
  EXPECT_EQ(Check(Net(Layer("0", "ReLU", kInOut), Edge(0, 1, 0, 0))), "m: its edges form a circle");
}

TEST(CheckNetworkTest, WeightsLieInTheFile) {
  EXPECT_EQ(CheckConst(R"(offset="0" size="8")"), "");
  EXPECT_EQ(CheckConst(R"(offset="8" size="0")"), "");
  EXPECT_THAT(CheckConst(R"(offset="4" size="5")"),
              HasSubstr("takes the bytes from 4 to 9 of the weights, which have 8"));
  for (const std::string data :
       {R"(offset="9223372036854775807" size="9223372036854775807")", R"(offset="9" size="0")"}) {
    EXPECT_THAT(CheckConst(data), HasSubstr("of the weights, which have 8")) << data;
  }
  for (const std::string data : {"", R"(offset="-1" size="1")", R"(offset="0" size="x")"}) {
    EXPECT_THAT(CheckConst(data), HasSubstr("lacks the offset or the size")) << data;
  }
}

TEST(CheckNetworkTest, TensorsAreOfASizeThatExists) {
  EXPECT_THAT(
      Check(Net(Layer("0", "Parameter", R"(<data shape="4611686018427387904,4"/>)" + kOut), "")),
      HasSubstr("has the shape 4611686018427387904,4, more than 2^40 elements"));
  EXPECT_THAT(Check(Net(Layer("0", "Parameter",
                              R"(<output><port id="0"><dim>2097152</dim><dim>2097152</dim></port>)"
                              "</output>"),
                        "")),
              HasSubstr("has a tensor of more than 2^40 elements"));
}

TEST(CheckNetworkTest, VariablesHaveNames) {
  EXPECT_THAT(Check(Net(Layer("0", "Assign", "<data/>" + kOut), "")),
              HasSubstr("has no variable_id"));
}

TEST(CheckNetworkTest, NetworksInNetworksAreCheckedAndNotTooDeep) {
  std::string inner = "<layers>" + Layer("0", "A", kIn) + "</layers>";
  EXPECT_THAT(Check(Net(Layer("0", "Loop", "<body>" + inner + "</body>"), "")),
              HasSubstr("of which edges feed 0"));
  for (int i = 0; i < 40; ++i) {
    inner = "<layers>" + Layer("0", "If", "<then_body>" + inner + "</then_body>") + "</layers>";
  }
  EXPECT_THAT(Check("<net>" + inner + "</net>"), HasSubstr("is more than 16 networks deep"));
}

}  // namespace
}  // namespace nereid::openvino
