// SPDX-License-Identifier: Apache-2.0
#include "caffe2/net_files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "caffe2/testing/net_fixture.h"

namespace nereid::caffe2 {
namespace {

using ::testing::HasSubstr;

/// One field of a message: its number, its wire type and what follows.
std::string Field(int number, int wire_type, const std::string& content) {
  return std::string(1, static_cast<char>(number << 3 | wire_type)) + content;
}

std::string Bytes(int number, const std::string& content) {
  std::string length;
  size_t left = content.size();
  do {
    length += static_cast<char>((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
    left >>= 7;
  } while (left > 0);
  return Field(number, 2, length + content);
}

class NetFilesTest : public testing::NetTest {
 protected:
  std::string LoadNet(const std::string& predict, const std::string& init = "") {
    WriteFiles(init, predict);
    return LoadFiles(R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[2]}])");
  }

  static std::string Relu() {
    return testing::ParseCase("input x FP32 [2]\nRelu x -> y").nets.predict.SerializeAsString();
  }

  std::string File(const std::string& name) const { return "'" + folder() + "/1/" + name + "'"; }
};

TEST_F(NetFilesTest, ANetLoads) { EXPECT_EQ(LoadNet(Relu()), ""); }

TEST_F(NetFilesTest, FilesThatAreMissing) {
  EXPECT_EQ(LoadFiles(""), "unable to find " + File("model.netdef") + " for model 'net'");
  WriteFiles("", Relu());
  std::filesystem::remove(folder() + "/1/init_model.netdef");
  EXPECT_EQ(LoadFiles(""), "unable to find " + File("init_model.netdef") + " for model 'net'");
}

TEST_F(NetFilesTest, OtherNames) {
  WriteFiles("", Relu());
  std::filesystem::rename(folder() + "/1/model.netdef", folder() + "/1/relu.pb");
  std::filesystem::rename(folder() + "/1/init_model.netdef", folder() + "/1/init_relu.pb");
  const std::string input = R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[2]}],)";
  EXPECT_EQ(LoadFiles(input + R"("default_model_filename":"relu.pb")"), "");
  EXPECT_EQ(LoadFiles(input + R"("default_model_filename":"../1/relu.pb")"),
            "model 'net': default_model_filename '../1/relu.pb' leads out of the version's folder");
}

TEST_F(NetFilesTest, FilesThatAreNoNets) {
  const std::string damaged = File("model.netdef") + " is no Caffe2 NetDef, or is damaged";
  EXPECT_EQ(LoadNet("name: \"a net as text\""), damaged);
  EXPECT_EQ(LoadNet(Relu().substr(0, Relu().size() - 1)), damaged);
  EXPECT_EQ(LoadNet(std::string(1000, '\xFF')), damaged);
  EXPECT_EQ(LoadNet(Field(2, 2, "\xFF\xFF\xFF\xFF\x0F")), damaged);   // four gigabytes to come
  EXPECT_EQ(LoadNet(Field(2, 2, std::string(10, '\xFF'))), damaged);  // and more than 64 bits
  EXPECT_EQ(LoadNet(Field(0, 0, "\x01")), damaged);                   // no field is number 0
  EXPECT_EQ(LoadNet(Field(9, 4, "")), damaged);                       // the end of no group
  EXPECT_EQ(LoadNet(Relu(), "\x12"),
            File("init_model.netdef") + " is no Caffe2 NetDef, or is damaged");
}

TEST_F(NetFilesTest, FieldsOfAnotherWireTypeAreNoFields) {
  // `op` as a number: the net has no operators.
  EXPECT_EQ(LoadNet(Field(2, 0, "\x05") + Bytes(7, "x") + Bytes(8, "x")), "");
  EXPECT_THAT(LoadNet(Field(2, 0, "\x05") + Bytes(7, "x") + Bytes(8, "y")),
              HasSubstr(File("model.netdef") + ": nothing writes the output 'y' of the net"));
}

TEST_F(NetFilesTest, AnEmptyNet) {
  EXPECT_EQ(LoadNet(""), "model 'net': " + File("model.netdef") +
                             ": the net has no external_input 'x', which the configuration names "
                             "as input; it has: none");
  EXPECT_EQ(LoadNet(Bytes(7, "x")),
            "model 'net': " + File("model.netdef") + ": the net has no external_output");
}

TEST_F(NetFilesTest, NestingIsNotFollowed) {
  // Groups inside of each other, and nets inside of arguments.
  EXPECT_EQ(LoadNet(Relu() + std::string(100000, static_cast<char>(9 << 3 | 3))),
            File("model.netdef") + " is no Caffe2 NetDef, or is damaged");
  std::string net = "x";
  for (int depth = 0; depth < 2000; ++depth) {
    net = Bytes(2, Bytes(5, Bytes(8, net)));
  }
  EXPECT_THAT(LoadNet(Relu() + net), HasSubstr("operator without a type"));
}

TEST_F(NetFilesTest, NamesThatAreNoText) {
  const std::string damaged =
      File("model.netdef") + " is damaged: it has a name that is no UTF-8 text";
  for (const char* bad : {"\xFF", "a\xC3", "\xC0\xAF", "\x80", "\xF8\x88\x80\x80\x80"}) {
    EXPECT_EQ(LoadNet(Relu() + Bytes(7, bad)), damaged);
    EXPECT_EQ(LoadNet(Relu() + Bytes(8, bad)), damaged);
    EXPECT_EQ(LoadNet(Relu() + Bytes(2, Bytes(4, bad))), damaged);
    EXPECT_EQ(LoadNet(Relu() + Bytes(2, Bytes(1, bad))), damaged);
    EXPECT_EQ(LoadNet(Relu() + Bytes(2, Bytes(5, Bytes(1, bad)))), damaged);
  }
  EXPECT_EQ(LoadNet(Relu() + Bytes(8, "gr\xC3\xBCn")),
            "model 'net': " + File("model.netdef") +
                ": nothing writes the output 'gr\xC3\xBCn' of the net");
}

TEST_F(NetFilesTest, NamesOfMegabytesAreCutInMessages) {
  const std::string name(1 << 20, 'n');
  const std::string message = LoadNet(Bytes(7, "x") + Bytes(8, name));
  EXPECT_THAT(message, HasSubstr("nnn...' of the net"));
  EXPECT_LT(message.size(), 1000u);
  EXPECT_LT(LoadNet(Relu() + Bytes(2, Bytes(4, name) + Bytes(1, name) + Bytes(2, name))).size(),
            2000u);
}

TEST_F(NetFilesTest, VeryManyOfAnything) {
  std::string ints = Bytes(1, "shape");
  for (int i = 0; i < 200000; ++i) {
    ints += Field(6, 0, "\x01");
  }
  const std::string fill = Bytes(2, Bytes(4, "ConstantFill") + Bytes(2, "w") + Bytes(5, ints));
  EXPECT_THAT(LoadNet(Relu(), fill), HasSubstr("its output would have the shape [1,1,1,1,1,1,1,1,1,"
                                               "1,1,1,1,1,1,1,...]"));
  std::string inputs;
  for (int i = 0; i < 200000; ++i) {
    inputs += Bytes(1, "x");
  }
  EXPECT_THAT(LoadNet(Relu() + Bytes(2, Bytes(4, "Relu") + inputs + Bytes(2, "z"))),
              HasSubstr("'x' and 199992 more, which are too many"));
  std::string many;
  for (int i = 0; i < 150000; ++i) {
    many += Bytes(2, Bytes(4, "LRN") + Bytes(1, "x") + Bytes(2, "y") +
                         Bytes(5, Bytes(1, "size") + Field(3, 0, "\x03")));
  }
  EXPECT_THAT(LoadNet(Relu() + many), HasSubstr("at least 3 dimensions are needed"));
  std::string operators;
  for (int i = 0; i < 1000001; ++i) {
    operators += Field(2, 2, std::string(1, '\0'));
  }
  EXPECT_EQ(LoadNet(operators), File("model.netdef") + " has more than 1000000 operators");
}

TEST_F(NetFilesTest, ANetOfTooManyNodes) {
  std::string many;
  for (int i = 0; i < 30000; ++i) {
    many += Bytes(2, Bytes(4, "Gelu") + Bytes(1, "x") + Bytes(2, "x") +
                         Bytes(5, Bytes(1, "fast_gelu") + Field(3, 0, "\x01")));
  }
  EXPECT_THAT(LoadNet(Bytes(7, "x") + Bytes(8, "x") + many),
              HasSubstr("with it, the net becomes more than 200000 ONNX nodes"));
}

}  // namespace
}  // namespace nereid::caffe2
