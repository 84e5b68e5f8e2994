// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/signature_def.h"

#include <gtest/gtest.h>

#include "tensorflow/graph_writer.h"
#include "tensorflow/wire.h"

namespace nereid::tensorflow {
namespace {

using testing::Text;

std::string Entry(const std::string& name, const std::string& tensor) {
  return Text(1, name) + Text(2, Text(1, tensor));
}

std::string Signature(const std::string& name, const std::string& content) {
  return Text(5, Text(1, name) + Text(2, content));
}

const std::string kServe = Text(1, Entry("x", "serving_x:0")) + Text(2, Entry("y", "Call:1"));

std::string Choose(const std::string& meta_graph, const std::string& wanted, SignatureDef* chosen) {
  return ChooseSignature(ReadSignatures(meta_graph), wanted, "m", chosen).message();
}

TEST(SignatureDefTest, ReadsNamesAndTensors) {
  SignatureDef chosen;
  EXPECT_EQ(Choose(Signature("serving_default", kServe), "", &chosen), "");
  ASSERT_EQ(chosen.inputs.size(), 1u);
  EXPECT_EQ(chosen.inputs.at("x").tensor, "serving_x:0");
  ASSERT_EQ(chosen.outputs.size(), 1u);
  EXPECT_EQ(chosen.outputs.at("y").tensor, "Call:1");
}

TEST(SignatureDefTest, ReadsShapes) {
  const auto dims = [](const std::string& shape) {
    const std::string entry = Text(1, "x") + Text(2, Text(1, "t:0") + shape);
    return ReadSignatures(Signature("s", Text(1, entry))).at("s").inputs.at("x").dims;
  };
  const auto number = [](uint32_t field, int64_t value) {
    std::string bytes;
    AppendNumber(field, value, &bytes);
    return bytes;
  };
  const std::string any = Text(2, number(1, -1)), four = Text(2, number(1, 4) + Text(2, "width"));
  EXPECT_EQ(dims(Text(3, any + four)), (std::vector<int64_t>{-1, 4}));
  EXPECT_EQ(dims(Text(3, Text(2, ""))), (std::vector<int64_t>{0}));
  EXPECT_EQ(dims(Text(3, "")), std::vector<int64_t>());
  EXPECT_EQ(dims(Text(3, number(3, 1))), std::nullopt);
  EXPECT_EQ(dims(""), std::nullopt);
  std::string many;
  for (int i = 0; i < 300; ++i) {
    many += any;
  }
  EXPECT_EQ(dims(Text(3, many)), std::nullopt);
}

TEST(SignatureDefTest, TensorsOfAnotherEncodingAreLeftOut) {
  const auto signatures =
      ReadSignatures(Signature("s", Text(1, Text(1, "sparse") + Text(2, Text(4, "..."))) + kServe));
  EXPECT_EQ(signatures.at("s").inputs.size(), 1u);
}

TEST(SignatureDefTest, Choice) {
  const std::string other = Text(1, Entry("a", "b:0")) + Text(2, Entry("c", "d:0"));
  const std::string empty = Text(2, Entry("op", "__saved_model_init_op"));
  const std::string both =
      Signature("first", empty) + Signature("second", other) + Signature("third", kServe);
  SignatureDef chosen;
  EXPECT_EQ(Choose(both, "", &chosen), "");
  EXPECT_TRUE(chosen.inputs.contains("a"));  // the first that has inputs
  EXPECT_EQ(Choose(both, "third", &chosen), "");
  EXPECT_TRUE(chosen.inputs.contains("x"));
  EXPECT_EQ(Choose(both + Signature("serving_default", kServe), "", &chosen), "");
  EXPECT_TRUE(chosen.inputs.contains("x"));
  EXPECT_EQ(Choose(both, "fourth", &chosen),
            "model 'm': the SavedModel has no signature 'fourth'; its signatures are: 'first', "
            "'second', 'third' (parameter TF_SIGNATURE_DEF)");
  EXPECT_EQ(Choose("", "", &chosen),
            "model 'm': the SavedModel has no signature with inputs and outputs; its signatures "
            "are: none (parameter TF_SIGNATURE_DEF)");
}

}  // namespace
}  // namespace nereid::tensorflow
