// SPDX-License-Identifier: Apache-2.0
#include "openvino/ov_types.h"

#include <gtest/gtest.h>

#include "openvino/ov_error.h"

namespace nereid::openvino {
namespace {

TEST(OvTypesTest, EveryTypeOfTheProtocolGoesThereAndBack) {
  for (int i = TRITONSERVER_TYPE_BOOL; i <= TRITONSERVER_TYPE_BF16; ++i) {
    const auto type = static_cast<TRITONSERVER_DataType>(i);
    EXPECT_EQ(DataTypeOf(ElementTypeOf(type)), type) << TRITONSERVER_DataTypeString(type);
    if (type != TRITONSERVER_TYPE_BYTES) {
      EXPECT_EQ(ElementTypeOf(type).size(), TRITONSERVER_DataTypeByteSize(type));
    }
  }
}

TEST(OvTypesTest, TypesThatTheProtocolLacks) {
  for (const ov::element::Type& type :
       {ov::element::Type(ov::element::u4), ov::element::Type(ov::element::i4),
        ov::element::Type(ov::element::u1), ov::element::Type(ov::element::f8e4m3),
        ov::element::Type(ov::element::dynamic)}) {
    EXPECT_EQ(DataTypeOf(type), TRITONSERVER_TYPE_INVALID) << type;
  }
  EXPECT_EQ(ElementTypeOf(TRITONSERVER_TYPE_INVALID), ov::element::dynamic);
}

TEST(OvErrorTest, TheLastLineThatSaysSomething) {
  EXPECT_EQ(LastLine("Exception from src/a.cc:1\n\nno such thing\n \n"), "no such thing");
  EXPECT_EQ(LastLine("one line"), "one line");
  EXPECT_EQ(LastLine(" \n"), "");
  EXPECT_EQ(LastLine(""), "");
}

TEST(OvErrorTest, WhatIsThrownBecomesAnError) {
  const auto thrown = [](auto value) {
    return CatchOpenVino("model 'm'", [&]() -> Error { throw value; });
  };
  const Error failure = thrown(std::runtime_error("in a.cc:\nit broke"));
  EXPECT_EQ(TRITONSERVER_ErrorCode(failure.get()), TRITONSERVER_ERROR_INTERNAL);
  EXPECT_EQ(failure.message(), "model 'm': it broke");
  const Error memory = thrown(std::bad_alloc());
  EXPECT_EQ(TRITONSERVER_ErrorCode(memory.get()), TRITONSERVER_ERROR_UNAVAILABLE);
  EXPECT_EQ(memory.message(), "model 'm': memory ran out");
  EXPECT_EQ(thrown(7).message(), "model 'm'");
  EXPECT_TRUE(CatchOpenVino("", [] { return Error(); }).ok());
}

}  // namespace
}  // namespace nereid::openvino
