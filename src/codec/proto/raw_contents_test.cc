// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/raw_contents.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

using Kind = RawContentsReader::Kind;

inference::ModelInferRequest Request(const std::string& datatype = "FP32") {
  inference::ModelInferRequest request;
  request.set_model_name("model");
  request.set_model_version("3");
  auto* input = request.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype(datatype);
  input->add_shape(7);
  return request;
}

TEST(RawContents, AreFoundBehindTheFieldsThatNameTheModel) {
  auto request = Request();
  const size_t fields = request.ByteSizeLong();
  request.add_raw_input_contents(std::string(100'000, 'x'));
  const std::string message = request.SerializeAsString();
  const auto start = FindRawContents(std::string_view(message).substr(0, fields + 10));
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(start->size, fields);
  EXPECT_EQ(start->model_name, "model");
  EXPECT_EQ(start->model_version, "3");
  for (size_t size = 0; size <= fields; ++size) {
    EXPECT_FALSE(FindRawContents(std::string_view(message).substr(0, size)).has_value()) << size;
  }
}

TEST(RawContents, AreNotFoundInOtherMessages) {
  auto strings = Request("BYTES");
  strings.add_raw_input_contents("\1");
  EXPECT_FALSE(FindRawContents(strings.SerializeAsString()).has_value());
  strings.add_inputs()->set_datatype("INT8");
  EXPECT_TRUE(FindRawContents(strings.SerializeAsString()).has_value());
  EXPECT_FALSE(FindRawContents(Request().SerializeAsString()).has_value());
  EXPECT_FALSE(FindRawContents("").has_value());
  EXPECT_FALSE(FindRawContents("\xff\xff\xff").has_value());
  auto many = Request();
  for (int i = 0; i < 200; ++i) many.add_outputs();
  many.add_raw_input_contents("x");
  EXPECT_FALSE(FindRawContents(many.SerializeAsString()).has_value());
}

/// What a reader gives out, for a message that arrives in pieces of `step` bytes.
struct Divided {
  std::vector<std::string> entries;
  std::string rest;
};

Divided Divide(const std::string& bytes, size_t step, size_t max_entries = 100) {
  Divided divided;
  std::vector<size_t> sizes;
  RawContentsReader reader(bytes.size(), max_entries);
  for (size_t at = 0; at < bytes.size(); at += step) {
    std::string_view data = std::string_view(bytes).substr(at, step);
    while (!data.empty()) {
      const RawContentsReader::Piece piece = reader.Next(&data);
      if (piece.kind == Kind::kEntry) {
        divided.entries.emplace_back();
        sizes.push_back(piece.entry_size);
      }
      if (piece.kind == Kind::kBytes) divided.entries.back().append(piece.bytes);
      if (piece.kind == Kind::kRest) divided.rest.append(piece.bytes);
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(divided.entries[i].size(), sizes[i]);
  return divided;
}

TEST(RawContents, AreDividedWhereverTheMessageIsCut) {
  inference::ModelInferRequest contents;
  contents.add_raw_input_contents(std::string(300, 'a'));
  contents.add_raw_input_contents("");
  contents.add_raw_input_contents("c");
  const std::string bytes = contents.SerializeAsString();
  for (size_t step = 1; step <= bytes.size(); ++step) {
    const Divided divided = Divide(bytes, step);
    EXPECT_EQ(divided.entries, (std::vector<std::string>{std::string(300, 'a'), "", "c"}));
    EXPECT_EQ(divided.rest, "");
  }
}

TEST(RawContents, EndAtAnotherField) {
  inference::ModelInferRequest first, name, last;
  first.add_raw_input_contents("abc");
  name.set_model_name("other");
  last.add_raw_input_contents("def");
  const std::string rest = name.SerializeAsString() + last.SerializeAsString();
  for (size_t step = 1; step < 30; ++step) {
    const Divided divided = Divide(first.SerializeAsString() + rest, step);
    EXPECT_EQ(divided.entries, std::vector<std::string>{"abc"});
    EXPECT_EQ(divided.rest, rest);
  }
}

TEST(RawContents, LeaveWhatIsDamagedToTheParser) {
  const std::string long_tag(12, '\xff');
  const std::string too_long =
      "\x3a\x05"
      "abc";
  const std::string cut = "\x3a\x80";
  for (const std::string& rest : {long_tag, too_long, cut, std::string("\x3a")}) {
    for (size_t step = 1; step < 15; ++step) {
      const Divided divided = Divide("\x3a\x01x" + rest, step);
      EXPECT_EQ(divided.entries, std::vector<std::string>{"x"});
      EXPECT_EQ(divided.rest, rest);
    }
  }
}

TEST(RawContents, HaveALimit) {
  const Divided divided = Divide("\x3a\x01x\x3a\x01y\x3a\x01z", 4, 2);
  EXPECT_EQ(divided.entries, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(divided.rest, "\x3a\x01z");
}

}  // namespace
}  // namespace nereid::codec::proto
