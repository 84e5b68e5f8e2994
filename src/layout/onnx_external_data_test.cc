// SPDX-License-Identifier: Apache-2.0
#include "layout/onnx_external_data.h"

#include <gtest/gtest.h>

namespace nereid::layout {
namespace {

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}
std::string Number(uint32_t field, uint64_t value) { return Varint(field << 3) + Varint(value); }
std::string Bytes(uint32_t field, const std::string& body) {
  return Varint(field << 3 | 2) + Varint(body.size()) + body;
}
std::string Entry(const std::string& key, const std::string& value) {
  return Bytes(13, Bytes(1, key) + Bytes(2, value));
}
std::string External(const std::string& location, const std::string& offset,
                     const std::string& length) {
  return Bytes(5, Entry("location", location) + Entry("offset", offset) + Entry("length", length) +
                      Number(14, 1));
}
std::string Model(const std::string& graph) { return Number(1, 8) + Bytes(7, graph); }

OnnxExternalData Read(const std::string& bytes) {
  return ReadOnnxExternalData(base::StringSource(bytes));
}

TEST(OnnxExternalDataTest, ListsTheFilesAndTheBytesThatAreNeeded) {
  const std::string inside = Bytes(5, Bytes(9, std::string(100000, 'x')));
  const OnnxExternalData expected = {{"a.bin", 30}, {"b.bin", 7}};
  EXPECT_EQ(Read(Model(External("a.bin", "0", "10") + inside + External("a.bin", "20", "10") +
                       External("a.bin", "10", "10") + External("b.bin", "", "7"))),
            expected);
  EXPECT_EQ(Read(Model(inside)), OnnxExternalData());
}

TEST(OnnxExternalDataTest, SurvivesAnyDamage) {
  const std::string good = Model(External("a.bin", "18446744073709551615", "10"));
  EXPECT_EQ(Read(good).at("a.bin"), UINT64_MAX);
  for (size_t size = 0; size < good.size(); ++size) Read(good.substr(0, size));
  uint32_t seed = 3;
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = good;
    seed = seed * 1664525 + 1013904223;
    damaged[(seed >> 8) % damaged.size()] = static_cast<char>(seed >> 24);
    Read(damaged);
  }
}

TEST(OnnxExternalDataTest, TheNumberOfFilesIsBounded) {
  std::string graph;
  for (int i = 0; i < 2000; ++i) graph += External(std::to_string(i), "0", "1");
  EXPECT_EQ(Read(Model(graph)).size(), 1000u);
}

}  // namespace
}  // namespace nereid::layout
