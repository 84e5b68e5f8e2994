// SPDX-License-Identifier: Apache-2.0
#include "pytorch/pickle_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::pytorch {
namespace {

using namespace std::string_literals;  // NOLINT
using testing::HasSubstr;

std::string Check(const std::string& pickle, std::vector<std::string>* storages = nullptr) {
  return CheckPickle("\x80\x02"s + pickle,
                     [&](std::string_view type, std::string_view key, int64_t elements) -> Error {
                       if (storages != nullptr) {
                         storages->push_back(std::string(type) + " " + std::string(key) + " " +
                                             std::to_string(elements));
                       }
                       return elements == 13 ? Error::InvalidArgument("unlucky") : Error();
                     })
      .message();
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

std::string Text(const std::string& text) {
  return "X"s + static_cast<char>(text.size()) + "\0\0\0"s + text;
}

std::string Storage(const std::string& elements) {
  return "(" + Text("storage") + "ctorch\nFloatStorage\n" + Text("7") + Text("cpu") + elements +
         "tQ.";
}

TEST(PickleCheck, StoragesAreSeen) {
  std::vector<std::string> storages;
  EXPECT_EQ(Check(Storage("K\x05"), &storages), "");
  EXPECT_EQ(Check(Storage("J\xFF\xFF\xFF\xFF"), &storages), "");
  EXPECT_EQ(Check(Storage("M\x01\x02"), &storages), "");
  EXPECT_EQ(Check(Storage("\x8a\x05\0\0\0\0\x01"s), &storages), "");
  EXPECT_THAT(storages, testing::ElementsAre("FloatStorage 7 5", "FloatStorage 7 -1",
                                             "FloatStorage 7 513", "FloatStorage 7 4294967296"));
  EXPECT_EQ(Check(Storage("K\x0d")), "unlucky");
  EXPECT_THAT(Check(Storage("N")), HasSubstr("not described"));
}

TEST(PickleCheck, ATypeOrKeyMayComeFromTheMemo) {
  std::vector<std::string> storages;
  EXPECT_EQ(Check(Text("7") + "q\x00"s + "(" + Text("storage") + "ctorch\nLongStorage\n" +
                      "h\x00"s + Text("cpu") + "K\x02tQ.",
                  &storages),
            "");
  EXPECT_THAT(storages, testing::ElementsAre("LongStorage 7 2"));
}

TEST(PickleCheck, ObjectsLieInEachOtherToABound) {
  EXPECT_EQ(Check(")" + Repeated("\x85", 900) + "."), "");
  EXPECT_THAT(Check(")" + Repeated("\x85", 2000) + "."), HasSubstr("1000 deep"));
  EXPECT_THAT(Check(Repeated("(", 2000) + Repeated("t", 2000) + "."), HasSubstr("1000 deep"));
  EXPECT_THAT(Check(Repeated("]", 2000) + Repeated("a", 2000) + "."), HasSubstr("1000 deep"));
  EXPECT_THAT(Check(")" + Repeated("cx\ny\n)\x81q\x01}(K\x01h\x01ub", 2000) + "."),
              HasSubstr("another one holds it"));
}

TEST(PickleCheck, WhatAnotherHoldsIsFinished) {
  EXPECT_THAT(Check("]q\x01h\x01"s + "a."), HasSubstr("holds itself"));
  EXPECT_THAT(Check("]]q\x01"s + "ah\x01K\x02"s + "a."), HasSubstr("another one holds it"));
  EXPECT_EQ(Check("]q\x01K\x02"s + "aK\x03"s + "ah\x01\x86."s), "");
}

TEST(PickleCheck, TheMemoIsNoLargerThanTheFile) {
  EXPECT_THAT(Check("Nr\xFF\xFF\xFF\xFF."), HasSubstr("place 4294967295 of its memo"));
}

TEST(PickleCheck, InstructionsThatPythonAloneKnows) {
  EXPECT_THAT(Check("ios\nsystem\n."), HasSubstr("instruction 105"));
  EXPECT_THAT(Check("\x93."), HasSubstr("instruction 147"));
}

TEST(PickleCheck, TypesInTextsAreShallow) {
  EXPECT_THAT(Check("T\x00\x10\x00\x00"s + Repeated("[", 4096) + "."), HasSubstr("nests brackets"));
}

/// Whatever is cut off or missing is PyTorch's to find; here it must not be read.
TEST(PickleCheck, AnyBytesAreSurvived) {
  constexpr std::string_view kInstructions =
      "().]}Naeusbqrhjtldc\x85\x86\x87RQ02KMJ\x8aXUT\x8c\x8d";
  const std::string whole = Storage("K\x05");
  for (size_t i = 0; i <= whole.size(); ++i) {
    Check(whole.substr(0, i));
    Check(whole.substr(i));
  }
  uint32_t seed = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string noise = whole;
    for (int k = 0; k < 6; ++k) {
      seed = seed * 1664525 + 1013904223;
      noise[(seed >> 8) % noise.size()] = kInstructions[(seed >> 16) % kInstructions.size()];
    }
    Check(noise);
  }
}

}  // namespace
}  // namespace nereid::pytorch
