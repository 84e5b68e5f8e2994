// SPDX-License-Identifier: Apache-2.0
#include "tensor/classification.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/checked_math.h"
#include "tensor/bytes.h"

namespace nereid::tensor {
namespace {

using base::Status;

/// The checked arguments of a classification of `items` batch items.
struct Task {
  std::span<const char> data;
  size_t items = 0;
  size_t item_elements = 0;
  size_t count = 0;  // results for each item, at most item_elements
  std::span<const std::string> labels;
};

/// Returns whether `a` comes before `b` in the result. NaN is treated as less than everything else,
/// because std::partial_sort needs a strict weak order.
template <typename T>
bool ComesBefore(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(b)) return !std::isnan(a);
  }
  return a > b;
}

/// Appends a value as text: "0.500000" for floating-point types, as C prints a double; integers
/// without decimals.
template <typename T>
void AppendValue(T value, std::string* out) {
  char text[384];  // the longest double has 309 digits before the point
  std::to_chars_result end;
  if constexpr (std::is_floating_point_v<T>) {
    end = std::to_chars(text, text + sizeof(text), static_cast<double>(value),
                        std::chars_format::fixed, 6);
  } else {
    end = std::to_chars(text, text + sizeof(text), value);
  }
  out->append(text, end.ptr);
}

template <typename T>
void ClassifyItem(const Task& task, const char* data, std::vector<size_t>* order,
                  std::string* bytes) {
  const auto at = [data](size_t index) {
    T value;
    std::memcpy(&value, data + index * sizeof(T), sizeof(T));
    return value;
  };
  std::iota(order->begin(), order->end(), size_t{0});
  const auto last = order->begin() + static_cast<std::ptrdiff_t>(task.count);
  std::partial_sort(order->begin(), last, order->end(), [&](size_t a, size_t b) {
    const T left = at(a), right = at(b);
    if (ComesBefore(left, right)) return true;
    return !ComesBefore(right, left) && a < b;
  });
  std::string element;
  for (auto index = order->begin(); index != last; ++index) {
    element.clear();
    AppendValue(at(*index), &element);
    element.append(":").append(std::to_string(*index));
    if (*index < task.labels.size() && !task.labels[*index].empty()) {
      element.append(":").append(task.labels[*index]);
    }
    AppendBytesElement(element, bytes);
  }
}

template <typename T>
std::string ClassifyItems(const Task& task) {
  std::string bytes;
  if (task.count == 0) return bytes;
  std::vector<size_t> order(task.item_elements);
  for (size_t item = 0; item < task.items; ++item) {
    const char* const data = task.data.data() + item * task.item_elements * sizeof(T);
    ClassifyItem<T>(task, data, &order, &bytes);
  }
  return bytes;
}

base::Result<std::string> ClassifyAs(DataType type, const Task& task) {
  switch (type) {
    case DataType::kUint8:
      return ClassifyItems<uint8_t>(task);
    case DataType::kUint16:
      return ClassifyItems<uint16_t>(task);
    case DataType::kUint32:
      return ClassifyItems<uint32_t>(task);
    case DataType::kUint64:
      return ClassifyItems<uint64_t>(task);
    case DataType::kInt8:
      return ClassifyItems<int8_t>(task);
    case DataType::kInt16:
      return ClassifyItems<int16_t>(task);
    case DataType::kInt32:
      return ClassifyItems<int32_t>(task);
    case DataType::kInt64:
      return ClassifyItems<int64_t>(task);
    case DataType::kFp32:
      return ClassifyItems<float>(task);
    case DataType::kFp64:
      return ClassifyItems<double>(task);
    default:
      return Status::InvalidArgument(
          "class result not available for output due to unsupported type '" +
          std::string(DataTypeName(type)) + "'");
  }
}

}  // namespace

base::Result<Classes> Classify(DataType type, std::span<const int64_t> shape,
                               std::span<const char> data, bool batched, uint64_t count,
                               std::span<const std::string> labels) {
  batched = batched && !shape.empty();
  const std::optional<int64_t> elements = ElementCount(batched ? shape.subspan(1) : shape);
  const std::optional<uint64_t> byte_size = ByteSize(type, shape);
  if (DataTypeByteSize(type) != 0 && (!elements || byte_size != data.size())) {
    return Status::Internal("the tensor to classify has " + std::to_string(data.size()) +
                            " bytes, which does not fit its shape " + ShapeText(shape));
  }
  Task task;
  if (DataTypeByteSize(type) != 0) {
    task.data = data;
    task.items = batched ? static_cast<size_t>(shape[0]) : 1;
    task.item_elements = static_cast<size_t>(*elements);
    task.count = static_cast<size_t>(std::min<uint64_t>(count, task.item_elements));
    task.labels = labels;
    const auto total = base::CheckedMultiply(uint64_t{task.items}, uint64_t{task.count});
    if (!total || *total > kMaxClassElements) {
      return Status::InvalidArgument(
          "classification output tensor too large: " + std::to_string(task.count) +
          " classes for each of " + std::to_string(task.items) + " batch items exceed " +
          std::to_string(kMaxClassElements) + " elements");
    }
  }
  Classes classes;
  NEREID_ASSIGN_OR_RETURN(classes.bytes, ClassifyAs(type, task));
  if (batched) classes.shape.push_back(shape[0]);
  classes.shape.push_back(static_cast<int64_t>(task.count));
  return classes;
}

}  // namespace nereid::tensor
