// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/tensor_text.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "app/tools/remote/terminal_text.h"
#include "app/tools/tensors/fit_shape.h"
#include "app/tools/tensors/nested_values.h"
#include "app/tools/tensors/number_cells.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using tensor::DataType;

constexpr size_t kIndent = 2;
constexpr int64_t kEdge = 3;                 // elements shown at each end of a long dimension
constexpr size_t kMaxShownElements = 2'000;  // of a summary: a tensor may have many dimensions
constexpr size_t kMaxStringCharacters = 80;

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : TerminalText(text, kMaxStringCharacters)) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

/// Writes the elements of one tensor in nested lists.
class NestedText {
 public:
  NestedText(const Tensor& tensor, bool summarize) : tensor_(tensor), summarize_(summarize) {
    if (tensor.type != DataType::kBytes) return;
    ForEachText(tensor, [&](std::string_view text) { strings_.push_back(text); });
  }

  std::string Write() {
    // Without elements the lists say nothing, and there may be very many of them.
    if (CountElements(tensor_) == 0) return "[]";
    // Columns are aligned if all elements are numbers and few enough to be shown.
    if (tensor_.type != DataType::kBytes && !summarize_) {
      for (int64_t i = 0; i < CountElements(tensor_); ++i) {
        width_ = std::max(width_, Element(i).size());
      }
    }
    WriteLevel(0, 0);
    return std::move(text_);
  }

 private:
  std::string Element(int64_t index) const {
    if (tensor_.type == DataType::kBytes) return Quoted(strings_[static_cast<size_t>(index)]);
    const size_t size = tensor::DataTypeByteSize(tensor_.type);
    return CellText(tensor_.type, tensor_.bytes.data() + static_cast<size_t>(index) * size);
  }

  /// Returns how many elements an entry of dimension `depth` has.
  int64_t Stride(size_t depth) const {
    int64_t stride = 1;
    for (size_t i = depth + 1; i < tensor_.shape.size(); ++i) stride *= tensor_.shape[i];
    return stride;
  }

  void WriteLevel(size_t depth, int64_t first) {
    if (depth == tensor_.shape.size()) {
      const std::string element = Element(first);
      text_.append(width_ - std::min(width_, element.size()), ' ');
      text_ += element;
      ++shown_;
      return;
    }
    const bool is_row = depth + 1 == tensor_.shape.size();
    const int64_t dim = tensor_.shape[depth], stride = Stride(depth);
    text_ += '[';
    for (int64_t i = 0; i < dim; ++i) {
      if (i > 0) Separate(is_row, depth);
      if ((summarize_ && dim > 2 * kEdge && i == kEdge) || shown_ >= kMaxShownElements) {
        text_ += "...";
        if (shown_ >= kMaxShownElements) break;
        i = dim - kEdge - 1;
        continue;
      }
      WriteLevel(depth + 1, first + i * stride);
    }
    text_ += ']';
  }

  void Separate(bool is_row, size_t depth) {
    text_ += is_row ? ", " : ",\n" + std::string(kIndent + depth + 1, ' ');
  }

  const Tensor& tensor_;
  const bool summarize_;
  std::vector<std::string_view> strings_;
  size_t width_ = 0;
  size_t shown_ = 0;
  std::string text_;
};

/// Returns "min a, max b, mean c", and how many numbers are not finite.
std::string Summary(const Tensor& tensor) {
  const size_t size = tensor::DataTypeByteSize(tensor.type);
  double sum = 0;
  size_t low = tensor.bytes.size(), high = low, count = 0, others = 0;
  const auto value = [&](size_t at) {
    return ReadCell(tensor.type, tensor.bytes.data() + at).AsDouble();
  };
  for (size_t at = 0; at + size <= tensor.bytes.size(); at += size) {
    const double number = value(at);
    if (!std::isfinite(number)) {
      ++others;
      continue;
    }
    if (low == tensor.bytes.size() || number < value(low)) low = at;
    if (high == tensor.bytes.size() || number > value(high)) high = at;
    sum += number;
    ++count;
  }
  std::string text;
  if (count > 0) {
    char mean[64];
    std::snprintf(mean, sizeof(mean), "%.6g", sum / static_cast<double>(count));
    text = "min " + CellText(tensor.type, tensor.bytes.data() + low) + ", max " +
           CellText(tensor.type, tensor.bytes.data() + high) + ", mean " + mean;
  }
  if (others > 0) {
    text += (text.empty() ? "" : ", ") + std::to_string(others) + " not finite";
  }
  return text;
}

std::string Head(const Tensor& tensor) {
  std::string shape = tensor::ShapeText(tensor.shape);
  return TerminalText(tensor.name, 200) + "  " + std::string(tensor::DataTypeName(tensor.type)) +
         "  " + shape;
}

/// The parts of "value:index:label"; a label may contain colons.
struct ClassParts {
  std::string_view value, index, label;
};
bool SplitClass(std::string_view text, ClassParts* parts) {
  const size_t first = text.find(':');
  if (first == text.npos) return false;
  const size_t second = std::min(text.find(':', first + 1), text.size());
  parts->value = text.substr(0, first);
  parts->index = text.substr(first + 1, second - first - 1);
  parts->label = second == text.size() ? "" : text.substr(second + 1);
  return base::ParseWhole<double>(parts->value) && base::ParseWhole<uint64_t>(parts->index);
}

}  // namespace

std::string TensorText(const Tensor& tensor, int64_t max_elements) {
  const int64_t count = CountElements(tensor);
  const bool summarize = count > max_elements;
  std::string text = Head(tensor);
  if (summarize) {
    text += "  " + std::to_string(count) + " elements";
    if (tensor.type != DataType::kBytes && tensor.type != DataType::kBool) {
      text += ": " + Summary(tensor);
    }
  }
  return text + "\n" + std::string(kIndent, ' ') + NestedText(tensor, summarize).Write() + "\n";
}

bool AreClasses(const Tensor& tensor) {
  if (tensor.type != DataType::kBytes || tensor.bytes.empty()) return false;
  bool all = true;
  ForEachText(tensor, [&](std::string_view text) {
    ClassParts parts;
    all = all && SplitClass(text, &parts);
  });
  return all;
}

std::string ClassesText(const Tensor& tensor) {
  std::vector<std::vector<std::string>> rows = {{"  SCORE", "CLASS", "LABEL"}};
  const int64_t in_item = tensor.shape.empty() ? 1 : tensor.shape.back();
  const bool has_items = tensor.shape.size() > 1 && in_item > 0;
  int64_t index = 0;
  if (has_items) rows[0].insert(rows[0].begin(), "  ITEM");
  if (has_items) rows[0][1] = "SCORE";
  ForEachText(tensor, [&](std::string_view text) {
    ClassParts parts;
    if (!SplitClass(text, &parts)) parts = {text, "", ""};
    auto& row = rows.emplace_back();
    if (has_items) row.push_back("  " + std::to_string(index / in_item));
    row.push_back((has_items ? "" : "  ") + TerminalText(parts.value, 40));
    row.push_back(TerminalText(parts.index, 20));
    row.push_back(TerminalText(parts.label, 100));
    ++index;
  });
  return Head(tensor) + "\n" + Columns(rows);
}

}  // namespace nereid::app::tools
