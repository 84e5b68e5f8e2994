// SPDX-License-Identifier: Apache-2.0
#include "pytorch/naming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::pytorch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const ValueType kTensor{ValueKind::kTensor, false, "Tensor"};
const ValueType kMaybeTensor{ValueKind::kTensor, true, "Optional[Tensor]"};
const ValueType kTexts{ValueKind::kTexts, false, "List[str]"};
const ValueType kNumber{ValueKind::kInteger, false, "int"};
const ValueType kAny{ValueKind::kUnknown, false, "Any"};

Results Tuple(std::vector<ValueType> elements, std::vector<std::string> names = {}) {
  return {Results::Form::kTuple, std::move(elements), std::move(names), "Tuple[...]"};
}

/// forward(first: Tensor, second: Tensor) -> Tuple[Tensor, Tensor]
ForwardSignature Two() {
  return {{{"first", kTensor}, {"second", kTensor}}, Tuple({kTensor, kTensor})};
}

std::vector<NamedTensor> Numbers(const std::vector<std::string>& names) {
  std::vector<NamedTensor> tensors;
  for (const std::string& name : names) {
    tensors.push_back({name, TRITONSERVER_TYPE_FP32});
  }
  return tensors;
}

std::vector<NamedTensor> Text(const std::string& name) { return {{name, TRITONSERVER_TYPE_BYTES}}; }

Naming Made(const ForwardSignature& forward, const std::vector<NamedTensor>& inputs,
            const std::vector<NamedTensor>& outputs) {
  Naming naming;
  const Error error = MakeNaming("m", inputs, outputs, forward, &naming);
  EXPECT_EQ(error.message(), "");
  return naming;
}

std::string Refused(const ForwardSignature& forward, const std::vector<NamedTensor>& inputs,
                    const std::vector<NamedTensor>& outputs) {
  Naming naming;
  return MakeNaming("m", inputs, outputs, forward, &naming).message();
}

TEST(Naming, PlacesComeFromTheEndOfTheName) {
  const Naming naming =
      Made(Two(), Numbers({"x__1", "y__0"}), Numbers({"OUTPUT__1", "__0", "a__b__1"}));
  EXPECT_THAT(naming.arguments, ElementsAre(1, 0));
  EXPECT_THAT(naming.results, ElementsAre(1, 0, 1));
}

TEST(Naming, ArgumentsHaveNames) {
  EXPECT_THAT(Made(Two(), Numbers({"second", "first"}), {}).arguments, ElementsAre(1, 0));
  EXPECT_THAT(Made(Two(), Numbers({"second", "x__0"}), {}).arguments, ElementsAre(1, 0));
}

TEST(Naming, OneNameWithoutAPlaceMakesTheOrderCount) {
  EXPECT_THAT(Made(Two(), Numbers({"x__1", "left"}), {}).arguments, ElementsAre(0, 1));
  for (const char* name : {"x__", "x__1a", "x_1", "x__-1", "x__99999999999999999999"}) {
    EXPECT_THAT(Made(Two(), Numbers({"a", "b"}), Numbers({name, "y__0"})).results,
                ElementsAre(0, 1))
        << name;
  }
}

TEST(Naming, ANamedTupleNamesItsElements) {
  ForwardSignature forward = Two();
  forward.results = Tuple({kTensor, kTensor}, {"sum", "difference"});
  EXPECT_THAT(Made(forward, Numbers({"a", "b"}), Numbers({"difference", "sum"})).results,
              ElementsAre(1, 0));
}

TEST(Naming, APlaceOutOfRangeIsNamedWithWhatThereIs) {
  const std::string inputs = Refused(Two(), Numbers({"x__0", "y__2"}), {});
  EXPECT_THAT(inputs, HasSubstr("model 'm': input 'y__2' would be argument 2 of forward"));
  EXPECT_THAT(inputs, HasSubstr("forward(first: Tensor, second: Tensor) -> Tuple[...]"));
  EXPECT_THAT(Refused(Two(), Numbers({"a", "b"}), Numbers({"y__2"})),
              HasSubstr("output 'y__2' would be result 2 of forward, counted from 0, which "
                        "returns 2"));
}

TEST(Naming, AnArgumentIsTakenOnce) {
  EXPECT_THAT(Refused(Two(), Numbers({"first", "x__0"}), {}),
              HasSubstr("the inputs 'first' and 'x__0' are both the argument 'first'"));
}

TEST(Naming, EveryArgumentGetsSomething) {
  EXPECT_EQ(Refused(Two(), Numbers({"second"}), {}),
            "unable to load model 'm', configuration expects 1 inputs, model provides 2");
  EXPECT_EQ(Refused(Two(), Numbers({"first", "second", "third"}), {}),
            "unable to load model 'm', configuration expects 3 inputs, model provides 2");
  ForwardSignature forward{{{"x", kTensor}, {"bias", kMaybeTensor}, {"n", kNumber, true}},
                           Tuple({kTensor})};
  EXPECT_THAT(Made(forward, Numbers({"x"}), {}).arguments, ElementsAre(0));
}

TEST(Naming, TypesMeet) {
  ForwardSignature forward{{{"x", kNumber}}, Tuple({kTexts})};
  EXPECT_THAT(Refused(forward, Numbers({"x"}), {}),
              HasSubstr("input 'x' is TYPE_FP32, a Tensor in TorchScript, but the argument 'x' is "
                        "int"));
  EXPECT_THAT(Refused(forward, Text("x"), {}), HasSubstr("but the argument 'x' is int"));
  Made(forward, {{"x", TRITONSERVER_TYPE_INT64}}, Text("y"));
  forward.arguments = {{"x", kTexts}};
  EXPECT_THAT(Refused(forward, Numbers({"x"}), {}), HasSubstr("but the argument 'x' is List[str]"));
  EXPECT_THAT(Refused(forward, Text("x"), Numbers({"y__0"})),
              HasSubstr("output 'y__0' is TYPE_FP32, a Tensor in TorchScript, but forward returns "
                        "List[str] there"));
  Made(forward, Text("x"), Text("y__0"));
  forward = {{{"x", kAny}}, {}};
  Made(forward, Text("x"), Text("y__7"));
}

TEST(Naming, ListsHaveAnyLength) {
  ForwardSignature forward = Two();
  forward.results = {Results::Form::kList, {kTensor}, {}, "List[Tensor]"};
  EXPECT_THAT(Made(forward, Numbers({"a", "b"}), Numbers({"y__12"})).results, ElementsAre(12));
  EXPECT_THAT(Refused(forward, Numbers({"a", "b"}), Text("y__0")), HasSubstr("TYPE_STRING"));
}

TEST(Naming, DictionariesGoByName) {
  const ValueType dictionary{ValueKind::kTensorDictionary, false, "Dict[str, Tensor]"};
  const ForwardSignature forward{{{"tensors", dictionary}},
                                 {Results::Form::kDictionary, {kTensor}, {}, "Dict[str, Tensor]"}};
  const Naming naming = Made(forward, Numbers({"b", "a"}), Numbers({"sum", "product", "third"}));
  EXPECT_TRUE(naming.dictionary);
  EXPECT_THAT(Refused(forward, Text("a"), {}), HasSubstr("forward takes tensors by name"));
}

TEST(Naming, OneResultHasTheFirstPlace) {
  ForwardSignature forward = Two();
  forward.results = {Results::Form::kOne, {kTensor}, {}, "Tensor"};
  Made(forward, Numbers({"a", "b"}), Numbers({"anything"}));
  EXPECT_THAT(Refused(forward, Numbers({"a", "b"}), Numbers({"y__1"})), HasSubstr("returns 1"));
}

}  // namespace
}  // namespace nereid::pytorch
