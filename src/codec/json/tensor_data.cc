// SPDX-License-Identifier: Apache-2.0
#include "codec/json/tensor_data.h"

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "base/narrow.h"

namespace nereid::codec::json {

using base::Status;
using tensor::DataType;

namespace {

Status CountMismatch() {
  return Status::InvalidArgument(
      "Unable to parse 'data': Shape does not match true shape of 'data' field");
}

Status NoMemory(uint64_t bytes) {
  return Status::Unavailable("not enough memory for the " + std::to_string(bytes) +
                             " bytes of an input given as JSON");
}

}  // namespace

/// Reads the brackets and commas of a data array and calls functions for the elements. The nesting
/// of the brackets is not compared with the shape.
class DataReader {
 public:
  explicit DataReader(Cursor& cursor) : cursor_(cursor) {}

  /// Reads `count` elements. `read_many(left)` may read up to `left` elements, each with the
  /// following comma, and returns how many it read; `read_element` reads one.
  template <typename Many, typename Element>
  Status Read(uint64_t count, Many&& read_many, Element&& read_element) {
    const int outer_depth = cursor_.depth_;
    NEREID_RETURN_IF_ERROR(cursor_.Enter());
    uint64_t left = count;
    bool value_needed = false;  // after a comma
    while (true) {
      const char c = cursor_.Peek();
      if (c == '[') {
        NEREID_RETURN_IF_ERROR(cursor_.Enter());
        value_needed = false;
        continue;
      }
      if (c == ']' && !value_needed) {
        // An empty array has no elements.
        if (CloseAndSeparate(outer_depth, &value_needed)) break;
        NEREID_RETURN_IF_ERROR(error_);
        continue;
      }
      if (left == 0) {
        NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
        return CountMismatch();
      }
      const uint64_t read = read_many(left);
      if (read != 0) {
        left -= read;
        value_needed = true;
        continue;
      }
      --left;
      NEREID_RETURN_IF_ERROR(read_element());
      // The usual case: a comma follows.
      if (cursor_.p_ != cursor_.end_ && *cursor_.p_ == ',') [[likely]] {
        ++cursor_.p_;
        value_needed = true;
        continue;
      }
      if (Separate(outer_depth, &value_needed)) break;
      NEREID_RETURN_IF_ERROR(error_);
    }
    return left == 0 ? Status::Ok() : CountMismatch();
  }

  template <typename T>
  size_t ReadManyNumbers(uint64_t left, char* out) {
    return ReadPlainNumbers(&cursor_.p_, cursor_.end_, left, reinterpret_cast<T*>(out));
  }

  /// Reads one number and its text. `kind` is the expected type for the error text,
  /// "unsigned-integer" for example.
  Status ReadNumberElement(std::string_view kind, Number* number, std::string_view* text) {
    const char* const before = cursor_.p_;
    cursor_.p_ = ReadNumber(before, cursor_.end_, number);
    if (number->ok()) [[likely]] {
      *text = {before, static_cast<size_t>(cursor_.p_ - before)};
      return Status::Ok();
    }
    cursor_.p_ = before;
    const char c = cursor_.Peek();
    if (c == '"' || c == '{' || c == 't' || c == 'f' || c == 'n') {
      NEREID_RETURN_IF_ERROR(cursor_.SkipValue());
      return WrongType("data", kind, kind == "number" ? "double" : kind);
    }
    return cursor_.ReadNumberValue(number);
  }

 private:
  /// Takes the ']' at the cursor and what follows it; see Separate.
  bool CloseAndSeparate(int outer_depth, bool* value_needed) {
    ++cursor_.p_;
    if (--cursor_.depth_ == outer_depth) return true;
    return Separate(outer_depth, value_needed);
  }

  /// Takes the comma or the brackets after a value. Returns true when the whole array is closed;
  /// otherwise `error_` says whether reading may go on.
  bool Separate(int outer_depth, bool* value_needed) {
    while (true) {
      const char c = cursor_.Peek();
      if (c == ',') {
        ++cursor_.p_;
        *value_needed = true;
        return false;
      }
      if (c != ']') {
        error_ = cursor_.SyntaxError("Missing a comma or ] after an array element.");
        return false;
      }
      ++cursor_.p_;
      if (--cursor_.depth_ == outer_depth) return true;
    }
  }

  Cursor& cursor_;
  Status error_;
};

namespace {

size_t ReadNone(uint64_t) { return 0; }

/// The tensor to which the elements belong, for error texts.
struct Subject {
  std::string_view name;
  DataType type;

  Status OutOfRange(std::string_view value) const {
    return base::OutOfRange("input '" + std::string(name) + "'", value, tensor::DataTypeName(type));
  }
};

template <typename T>
constexpr std::string_view KindOf() {
  if constexpr (std::is_floating_point_v<T>) return "number";
  return std::is_signed_v<T> ? "signed-integer" : "unsigned-integer";
}

/// Returns whether the text of a number has neither a point nor an exponent.
bool IsInteger(std::string_view text) {
  return text.find_first_not_of("-0123456789") == std::string_view::npos;
}

/// Converts a number to an element. `text` is its text in the document.
template <typename T>
Status Convert(const Number& number, std::string_view text, const Subject& subject, T* element) {
  std::optional<T> value;
  if constexpr (std::is_floating_point_v<T>) {
    value = base::Narrow<T>(number.AsDouble());
  } else if (number.kind == Number::Kind::kUnsigned) {
    value = base::Narrow<T>(number.u);
  } else if (number.kind == Number::Kind::kNegative && (std::is_signed_v<T> || number.i == 0)) {
    value = base::Narrow<T>(number.i);
  } else if (number.kind == Number::Kind::kNegative || !IsInteger(text)) {
    return WrongType("data", KindOf<T>(), KindOf<T>());
  }
  if (!value) return subject.OutOfRange(text);
  *element = *value;
  return Status::Ok();
}

template <typename T>
Status ReadNumbers(Cursor& cursor, uint64_t count, const Subject& subject, char* out) {
  DataReader reader(cursor);
  const auto read_many = [&](uint64_t left) -> size_t {
    if constexpr (std::is_floating_point_v<T>) {
      const size_t read = reader.ReadManyNumbers<T>(left, out);
      out += read * sizeof(T);
      return read;
    }
    return 0;
  };
  return reader.Read(count, read_many, [&]() -> Status {
    Number number;
    std::string_view text;
    T value = T();
    NEREID_RETURN_IF_ERROR(reader.ReadNumberElement(KindOf<T>(), &number, &text));
    NEREID_RETURN_IF_ERROR(Convert(number, text, subject, &value));
    std::memcpy(out, &value, sizeof(T));
    out += sizeof(T);
    return Status::Ok();
  });
}

Status ReadBools(Cursor& cursor, uint64_t count, char* out) {
  DataReader reader(cursor);
  return reader.Read(count, ReadNone, [&cursor, &out]() -> Status {
    bool value = false;
    NEREID_RETURN_IF_ERROR(ReadBoolMember(cursor, "data", &value));
    *out++ = value ? 1 : 0;
    return Status::Ok();
  });
}

Status ReadStrings(Cursor& cursor, uint64_t count, char* out, size_t* used) {
  DataReader reader(cursor);
  const char* const begin = out;
  std::string scratch;
  NEREID_RETURN_IF_ERROR(reader.Read(count, ReadNone, [&]() -> Status {
    if (cursor.Peek() != '"') {
      NEREID_RETURN_IF_ERROR(cursor.SkipValue());
      return Status::InvalidArgument(
          "Unable to parse JSON bytes array: attempt to access JSON non-string as string");
    }
    std::string_view text;
    NEREID_RETURN_IF_ERROR(cursor.ReadString(&text, &scratch));
    if (text.size() > UINT32_MAX) {
      return Status::InvalidArgument("a BYTES element is longer than 4294967295 bytes");
    }
    const auto length = static_cast<uint32_t>(text.size());
    std::memcpy(out, &length, sizeof(length));
    if (length != 0) std::memcpy(out + sizeof(length), text.data(), length);
    out += sizeof(length) + length;
    return Status::Ok();
  }));
  *used = static_cast<size_t>(out - begin);
  return Status::Ok();
}

Status ReadElements(Cursor& cursor, const Subject& subject, uint64_t count, char* out,
                    size_t* used) {
  switch (subject.type) {
    case DataType::kBool:
      return ReadBools(cursor, count, out);
    case DataType::kUint8:
      return ReadNumbers<uint8_t>(cursor, count, subject, out);
    case DataType::kUint16:
      return ReadNumbers<uint16_t>(cursor, count, subject, out);
    case DataType::kUint32:
      return ReadNumbers<uint32_t>(cursor, count, subject, out);
    case DataType::kUint64:
      return ReadNumbers<uint64_t>(cursor, count, subject, out);
    case DataType::kInt8:
      return ReadNumbers<int8_t>(cursor, count, subject, out);
    case DataType::kInt16:
      return ReadNumbers<int16_t>(cursor, count, subject, out);
    case DataType::kInt32:
      return ReadNumbers<int32_t>(cursor, count, subject, out);
    case DataType::kInt64:
      return ReadNumbers<int64_t>(cursor, count, subject, out);
    case DataType::kFp32:
      return ReadNumbers<float>(cursor, count, subject, out);
    case DataType::kFp64:
      return ReadNumbers<double>(cursor, count, subject, out);
    case DataType::kBytes:
      return ReadStrings(cursor, count, out, used);
    default:
      return Status::Internal("no JSON form for data type " +
                              std::string(tensor::DataTypeName(subject.type)));
  }
}

/// Returns the length of the array at the cursor, without moving the cursor.
base::Result<size_t> TextSize(Cursor& cursor) {
  const char* const first = cursor.position();
  NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  const auto size = static_cast<size_t>(cursor.position() - first);
  cursor.MoveTo(first);
  return size;
}

}  // namespace

base::Result<memory::HostBuffer> ReadTensorData(Cursor& cursor, std::string_view name,
                                                DataType type, uint64_t count, size_t* used) {
  if (cursor.Peek() != '[') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    return WrongType("data", "array", "array");
  }
  // For numbers the rest of the document is a sufficient bound. BYTES are measured exactly, because
  // the buffer is as large as the text.
  auto text_size = static_cast<size_t>(cursor.end() - cursor.position());
  if (type == DataType::kBytes) {
    NEREID_ASSIGN_OR_RETURN(text_size, TextSize(cursor));
  }
  // An element takes at least one character and a comma, so the text cannot hold more elements.
  if (count > text_size / 2 + 1) {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    return CountMismatch();
  }
  // A BYTES element needs 4 bytes of length and at most its text: escapes only make it shorter.
  const size_t size =
      type == DataType::kBytes ? text_size + 4 * count : tensor::DataTypeByteSize(type) * count;
  memory::HostBuffer buffer = memory::HostBuffer::Allocate(size);
  if (size != 0 && !buffer) return NoMemory(size);
  *used = size;
  NEREID_RETURN_IF_ERROR(ReadElements(cursor, {name, type}, count, buffer.data(), used));
  return buffer;
}

}  // namespace nereid::codec::json
