// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/nested_values.h"

#include <cmath>
#include <optional>
#include <string>

#include "app/tools/tensors/number_cells.h"
#include "codec/json/cursor.h"
#include "tensor/bytes.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using codec::json::Cursor;
using codec::json::Number;
using tensor::DataType;

class NestedReader {
 public:
  NestedReader(std::string_view json, DataType type) : cursor_(json), type_(type) {}

  base::Result<Tensor> Read() {
    NEREID_RETURN_IF_ERROR(ReadValue(0));
    NEREID_RETURN_IF_ERROR(cursor_.ExpectEnd());
    return Tensor{"", type_, std::move(shape_), std::move(bytes_)};
  }

 private:
  Status Ragged() const {
    return Status::InvalidArgument("the lists have different lengths or depths");
  }

  Status ReadValue(size_t depth) {
    if (cursor_.Peek() != '[') return ReadElement(depth);
    if (leaf_depth_ && depth >= *leaf_depth_) return Ragged();
    if (shape_.size() == depth) shape_.push_back(tensor::kVariableDim);
    int64_t count = 0;
    NEREID_RETURN_IF_ERROR(cursor_.ForEachElement([&]() -> Status {
      ++count;
      return ReadValue(depth + 1);
    }));
    if (shape_[depth] != tensor::kVariableDim && shape_[depth] != count) return Ragged();
    shape_[depth] = count;
    return {};
  }

  Status ReadElement(size_t depth) {
    if (leaf_depth_.value_or(depth) != depth || shape_.size() > depth) return Ragged();
    leaf_depth_ = depth;
    const char first = cursor_.Peek();
    if (type_ == DataType::kBytes) {
      if (first != '"') {
        return Status::InvalidArgument("an element of a BYTES tensor must be a string in quotes");
      }
      std::string scratch;
      std::string_view text;
      NEREID_RETURN_IF_ERROR(cursor_.ReadString(&text, &scratch));
      tensor::AppendBytesElement(text, &bytes_);
      return {};
    }
    Number number;
    bool truth = false;
    if (cursor_.ReadBool(&truth)) {
      number.kind = Number::Kind::kUnsigned;
      number.u = truth ? 1 : 0;
      if (type_ != DataType::kBool) {
        return Status::InvalidArgument("true and false are values of BOOL alone");
      }
      return AppendCell(type_, number, &bytes_);
    }
    if (first != '-' && first != 'N' && first != 'I' && !(first >= '0' && first <= '9')) {
      return Status::InvalidArgument("expected numbers of the type " +
                                     std::string(tensor::DataTypeName(type_)));
    }
    NEREID_RETURN_IF_ERROR(cursor_.ReadNumberValue(&number));
    return AppendCell(type_, number, &bytes_);
  }

  Cursor cursor_;
  const DataType type_;
  tensor::Shape shape_;
  std::optional<size_t> leaf_depth_;  // the number of lists around every element
  std::string bytes_;
};

void WriteNumber(const Number& number, base::JsonWriter* json) {
  if (number.kind == Number::Kind::kUnsigned) {
    json->Integer(number.u);
  } else if (number.kind == Number::Kind::kNegative) {
    json->Integer(number.i);
  } else if (std::isfinite(number.d)) {
    char text[codec::json::kNumberRoom];
    json->Raw({text, codec::json::WriteDouble(number.d, text)});
  } else {
    json->String(std::isnan(number.d) ? "NaN" : number.d > 0 ? "Infinity" : "-Infinity");
  }
}

}  // namespace

base::Result<Tensor> ReadNestedValues(std::string_view json, DataType type) {
  auto read = NestedReader(json, type).Read();
  if (read.ok() || !read.status().message().starts_with(codec::json::kSyntaxError)) return read;
  // The text speaks of a request of the server's protocol.
  return Status::InvalidArgument("the values are not JSON, expected such as [[1,2],[3,4]]");
}

void WriteFlatValues(const Tensor& tensor, base::JsonWriter* json) {
  json->BeginArray();
  if (tensor.type == DataType::kBytes) {
    ForEachText(tensor, [&](std::string_view text) { json->String(text); });
  } else {
    const size_t size = tensor::DataTypeByteSize(tensor.type);
    for (size_t at = 0; size != 0 && at + size <= tensor.bytes.size(); at += size) {
      const char* const cell = tensor.bytes.data() + at;
      if (tensor.type == DataType::kBool) {
        json->Bool(*cell != 0);
      } else {
        WriteNumber(ReadCell(tensor.type, cell), json);
      }
    }
  }
  json->EndArray();
}

Status CheckTensor(const Tensor& tensor) {
  const auto wrong = [&](const std::string& why) {
    return Status::Internal("the server's tensor '" + tensor.name + "' is broken: " + why);
  };
  const auto count = tensor::ElementCount(tensor.shape);
  if (tensor.type == DataType::kInvalid) return wrong("unknown data type");
  if (!count) return wrong("its shape is " + tensor::ShapeText(tensor.shape));
  if (tensor.type == DataType::kBytes) {
    const tensor::ByteSpan piece{tensor.bytes.data(), tensor.bytes.size()};
    const Status checked = tensor::CheckBytesElements({&piece, 1}, *count, "the tensor");
    return checked.ok() ? checked : wrong(checked.message());
  }
  const auto size = tensor::ByteSize(tensor.type, tensor.shape);
  if (size && *size == tensor.bytes.size()) return {};
  return wrong(std::to_string(tensor.bytes.size()) + " bytes do not fit the shape " +
               tensor::ShapeText(tensor.shape));
}

}  // namespace nereid::app::tools
