// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/shape_values.h"

#include <cstring>

namespace nereid::tensorrt {
namespace {

template <typename Element>
std::vector<int64_t> Read(std::string_view bytes) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at + sizeof(Element) <= bytes.size(); at += sizeof(Element)) {
    Element element = 0;
    std::memcpy(&element, bytes.data() + at, sizeof(element));
    numbers.push_back(element);
  }
  return numbers;
}

template <typename Element>
void Write(std::span<const int64_t> numbers, std::string* bytes) {
  bytes->clear();
  for (const int64_t number : numbers) {
    const auto element = static_cast<Element>(number);
    bytes->append(reinterpret_cast<const char*>(&element), sizeof(element));
  }
}

}  // namespace

std::vector<int64_t> ReadNumbers(TRITONSERVER_DataType type, std::string_view bytes) {
  return type == TRITONSERVER_TYPE_INT64 ? Read<int64_t>(bytes) : Read<int32_t>(bytes);
}

void WriteNumbers(TRITONSERVER_DataType type, std::span<const int64_t> numbers,
                  std::string* bytes) {
  type == TRITONSERVER_TYPE_INT64 ? Write<int64_t>(numbers, bytes) : Write<int32_t>(numbers, bytes);
}

}  // namespace nereid::tensorrt
