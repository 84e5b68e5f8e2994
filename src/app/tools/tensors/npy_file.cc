// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tensors/npy_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/tools/tensors/nested_values.h"
#include "app/tools/tensors/number_cells.h"
#include "base/little_endian.h"
#include "base/parse_number.h"
#include "base/utf8.h"
#include "tensor/bytes.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using tensor::DataType;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxDims = 32;
constexpr uint64_t kMaxStringBytes = uint64_t{1} << 30;

constexpr std::pair<std::string_view, DataType> kTypes[] = {
    {"b1", DataType::kBool},   {"u1", DataType::kUint8},  {"u2", DataType::kUint16},
    {"u4", DataType::kUint32}, {"u8", DataType::kUint64}, {"i1", DataType::kInt8},
    {"i2", DataType::kInt16},  {"i4", DataType::kInt32},  {"i8", DataType::kInt64},
    {"f2", DataType::kFp16},   {"f4", DataType::kFp32},   {"f8", DataType::kFp64}};

Status Wrong(const std::string& why) {
  return Status::InvalidArgument("this is no .npy file that can be read: " + why);
}

/// Returns the text behind "'key':" in the dictionary, without the blanks before it.
std::optional<std::string_view> Entry(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const size_t at = header.find(quoted);
    if (at == header.npos) continue;
    std::string_view rest = header.substr(at + quoted.size());
    const size_t colon = rest.find_first_not_of(' ');
    if (colon == rest.npos || rest[colon] != ':') continue;
    const size_t value = rest.find_first_not_of(' ', colon + 1);
    if (value != rest.npos) return rest.substr(value);
  }
  return std::nullopt;
}

/// Parses "(2, 3)", "(2,)" or "()".
base::Result<tensor::Shape> ParseShape(std::string_view text) {
  const size_t end = text.find(')');
  if (!text.starts_with('(') || end == text.npos) return Wrong("its shape is not readable");
  tensor::Shape shape;
  text = text.substr(1, end - 1);
  while (true) {
    const size_t begin = text.find_first_not_of(", ");
    if (begin == text.npos) return shape;
    text.remove_prefix(begin);
    const size_t size = std::min(text.find_first_of(", "), text.size());
    const auto dim = base::ParseWhole<int64_t>(text.substr(0, size));
    if (!dim || *dim < 0 || shape.size() == kMaxDims) return Wrong("its shape is not readable");
    shape.push_back(*dim);
    text.remove_prefix(size);
  }
}

/// Appends a character as UTF-8; U+FFFD for what is none.
void AppendUtf8(uint32_t code, std::string* text) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  const auto tail = [&](int shift) {
    text->push_back(static_cast<char>(0x80u | ((code >> shift) & 0x3fu)));
  };
  if (code < 0x80) {
    text->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    text->push_back(static_cast<char>(0xc0u | (code >> 6)));
    tail(0);
  } else if (code < 0x10000) {
    text->push_back(static_cast<char>(0xe0u | (code >> 12)));
    tail(6);
    tail(0);
  } else {
    text->push_back(static_cast<char>(0xf0u | (code >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Returns a string of the type 'U' (four bytes for a character) or 'S', without the zeros that
/// fill it up.
std::string CellString(std::string_view cell, bool is_unicode) {
  std::string text;
  if (is_unicode) {
    for (size_t at = 0; at + 4 <= cell.size(); at += 4) {
      AppendUtf8(static_cast<uint32_t>(base::FromLittleEndian(cell.substr(at, 4))), &text);
    }
  } else {
    text = cell;
  }
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

base::Result<Tensor> ReadStrings(std::string_view type, tensor::Shape shape,
                                 std::string_view data) {
  const bool is_unicode = type[0] == 'U';
  const auto length = base::ParseWhole<uint32_t>(type.substr(1));
  const auto count = tensor::ElementCount(shape);
  if (!length || !count) return Wrong("its type or shape is not readable");
  const uint64_t size = uint64_t{*length} * (is_unicode ? 4 : 1);
  // A size of zero needs no bytes in the file, so the count must be bounded by itself.
  if (size == 0 ? static_cast<uint64_t>(*count) > data.size() + kMaxDims
                : data.size() / size != static_cast<uint64_t>(*count) || data.size() % size != 0) {
    return Wrong("its size does not fit its shape");
  }
  Tensor tensor{"", DataType::kBytes, std::move(shape), ""};
  for (int64_t i = 0; i < *count; ++i) {
    const std::string_view cell = data.substr(static_cast<uint64_t>(i) * size, size);
    tensor::AppendBytesElement(CellString(cell, is_unicode), &tensor.bytes);
  }
  return tensor;
}

base::Result<std::pair<std::string_view, std::string_view>> SplitHeader(std::string_view content) {
  const std::string_view all = content;
  if (!content.starts_with(kMagic) || content.size() < 10) return Wrong("it does not begin as one");
  const auto version = static_cast<unsigned char>(content[6]);
  const size_t width = version == 1 ? 2 : 4;
  if (version < 1 || version > 3 || content.size() < 8 + width) return Wrong("unknown version");
  const size_t size = base::FromLittleEndian(content.substr(8, width));
  if (size > content.size() - 8 - width) return Wrong("its header is cut off");
  return std::pair(all.substr(8 + width, size), all.substr(8 + width + size));
}

base::Result<std::string> StringsContent(const Tensor& tensor, size_t* longest) {
  uint64_t count = 0;
  bool has_zero_end = false;
  *longest = 1;
  ForEachText(tensor, [&](std::string_view text) {
    ++count;
    *longest = std::max(*longest, text.size());
    has_zero_end = has_zero_end || text.ends_with('\0');
  });
  if (has_zero_end) {
    return Status::InvalidArgument(
        "strings that end with a zero byte cannot be saved as .npy; "
        "name a file with the ending .json or .bin");
  }
  if (count > kMaxStringBytes / *longest) {
    return Status::InvalidArgument(
        "the strings are too long for .npy, which gives all of them the "
        "length of the longest; name a file with the ending .json");
  }
  std::string data;
  data.reserve(count * *longest);
  ForEachText(tensor, [&](std::string_view text) {
    data += text;
    data.append(*longest - text.size(), '\0');
  });
  return data;
}

}  // namespace

base::Result<Tensor> ParseNpy(std::string_view content) {
  NEREID_ASSIGN_OR_RETURN(const auto parts, SplitHeader(content));
  const auto [header, data] = parts;
  const auto descr = Entry(header, "descr");
  const auto order = Entry(header, "fortran_order");
  const auto shape_text = Entry(header, "shape");
  if (!descr || !order || !shape_text) return Wrong("its header lacks an entry");
  NEREID_ASSIGN_OR_RETURN(tensor::Shape shape, ParseShape(*shape_text));
  const size_t end = descr->find_first_of("'\"", 1);
  if (descr->find_first_of("'\"") != 0 || end == descr->npos || end < 4) {
    return Wrong("it has fields; only plain types can be read");
  }
  const char byte_order = (*descr)[1];
  const std::string_view type = descr->substr(2, end - 2);
  if (order->starts_with("True") && shape.size() > 1) {
    return Wrong("it is in Fortran order; save numpy.ascontiguousarray(array)");
  }
  if (byte_order == '>') {
    return Wrong("it is big-endian; save array.astype(array.dtype.newbyteorder('<'))");
  }
  if (type[0] == 'S' || type[0] == 'U') return ReadStrings(type, std::move(shape), data);
  const auto* const known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [&](const auto& t) { return t.first == type; });
  if (known == std::end(kTypes)) {
    return Wrong("its type " + std::string(type.substr(0, 20)) + " is none of tensors");
  }
  const auto size = tensor::ByteSize(known->second, shape);
  if (!size || *size != data.size()) return Wrong("its size does not fit its shape");
  return Tensor{"", known->second, std::move(shape), std::string(data)};
}

base::Result<std::string> NpyContent(const Tensor& tensor) {
  std::string descr, data;
  if (tensor.type == DataType::kBytes) {
    size_t longest = 0;
    NEREID_ASSIGN_OR_RETURN(data, StringsContent(tensor, &longest));
    descr = "|S" + std::to_string(longest);
  } else if (tensor.type == DataType::kBf16) {
    NEREID_ASSIGN_OR_RETURN(const Tensor wide, ConvertTensor(tensor, DataType::kFp32));
    descr = "<f4";
    data = wide.bytes;
  } else {
    const auto* const known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                           [&](const auto& t) { return t.second == tensor.type; });
    if (known == std::end(kTypes)) return Status::InvalidArgument("a tensor of no type");
    descr = (known->first[1] == '1' ? "|" : "<") + std::string(known->first);
    data = tensor.bytes;
  }
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (const int64_t dim : tensor.shape) header += std::to_string(dim) + ",";
  header += "), }";
  // The elements begin at a multiple of 64.
  constexpr size_t kFixed = 10;
  header.append(63 - (kFixed + header.size()) % 64, ' ');
  header += '\n';
  std::string content(kMagic);
  content += {'\x01', '\x00', static_cast<char>(header.size() & 0xffu),
              static_cast<char>(header.size() >> 8)};
  return content + header + data;
}

base::Result<Tensor> ConvertTensor(Tensor tensor, DataType type) {
  if (tensor.type == type) return tensor;
  if (tensor.type == DataType::kBytes || type == DataType::kBytes) {
    return Status::InvalidArgument(
        "the values are " + std::string(tensor::DataTypeName(tensor.type)) +
        ", the model expects " + std::string(tensor::DataTypeName(type)));
  }
  const size_t size = tensor::DataTypeByteSize(tensor.type);
  if (size == 0) return Status::InvalidArgument("a tensor of no type");
  std::string bytes;
  for (size_t at = 0; at + size <= tensor.bytes.size(); at += size) {
    NEREID_RETURN_IF_ERROR(
        AppendCell(type, ReadCell(tensor.type, tensor.bytes.data() + at), &bytes));
  }
  return Tensor{std::move(tensor.name), type, std::move(tensor.shape), std::move(bytes)};
}

}  // namespace nereid::app::tools
