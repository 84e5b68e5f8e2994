// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/contents.h"

#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "base/narrow.h"
#include "codec/proto/wire_reader.h"

namespace nereid::codec::proto {
namespace {

// Returns how a single element of a field is encoded.
WireType ElementWireType(uint32_t field) {
  switch (static_cast<ContentsField>(field)) {
    case ContentsField::kFp32:
      return WireType::kFixed32;
    case ContentsField::kFp64:
      return WireType::kFixed64;
    case ContentsField::kBytes:
      return WireType::kLength;
    default:
      return WireType::kVarint;
  }
}

bool CountPacked(std::string_view packed, WireType element, uint64_t* count) {
  if (element == WireType::kVarint) {
    WireReader reader(packed);
    uint64_t value;
    for (; !reader.done(); ++*count) {
      if (!reader.ReadVarint(&value)) return false;
    }
    return true;
  }
  const size_t width = element == WireType::kFixed32 ? 4 : 8;
  *count += packed.size() / width;
  return packed.size() % width == 0;
}

// A repeated scalar field may be packed (one length-delimited value) or not, whichever the schema
// says; protobuf's parser accepts both. A field with another wire type is unknown.
bool CountField(WireReader& reader, uint32_t tag, ContentsView* contents, bool* known) {
  const uint32_t field = tag >> 3;
  const WireType type = static_cast<WireType>(tag & 7);
  *known = false;
  if (field < 1 || field > kContentsFields) return true;
  const WireType element = ElementWireType(field);
  if (type != element && type != WireType::kLength) return true;
  *known = true;
  uint64_t& count = contents->counts[field];
  if (type == WireType::kLength) {
    std::string_view bytes;
    if (!reader.ReadBytes(&bytes)) return false;
    if (element != WireType::kLength) return CountPacked(bytes, element, &count);
    contents->bytes_size += bytes.size();
    ++count;
    return true;
  }
  ++count;
  return reader.SkipValue(tag, 0);
}

// Writes integers one after the other as elements of type T. `Field` is the type of the message's
// field. Remembers the first number that T cannot hold.
template <typename T, typename Field>
class ElementWriter {
 public:
  explicit ElementWriter(char* to) : to_(to) {}

  void Varint(uint64_t bits) {
    const auto value = Value(bits);
    if (!std::in_range<T>(value) && wrong_.empty()) [[unlikely]] {
      wrong_ = std::to_string(value);
    }
    const T element = static_cast<T>(value);
    std::memcpy(to_, &element, sizeof(T));
    to_ += sizeof(T);
  }

  // Empty if all numbers are elements.
  const std::string& wrong() const { return wrong_; }

 private:
  // Negative numbers have 64 bits in the message, of which some encoders of an int32 write 32 only.
  static auto Value(uint64_t bits) {
    if constexpr (std::is_unsigned_v<Field>) {
      return bits;
    } else {
      const bool has_32_bits = sizeof(Field) == sizeof(int32_t) && bits >> 32 == 0;
      return has_32_bits ? int64_t{static_cast<int32_t>(bits)} : static_cast<int64_t>(bits);
    }
  }

  char* to_;
  std::string wrong_;
};

// Writes booleans as one byte, 0 or 1; any non-zero varint is true.
class BoolWriter {
 public:
  explicit BoolWriter(char* to) : to_(to) {}
  void Varint(uint64_t value) { *to_++ = value != 0 ? 1 : 0; }

 private:
  char* to_;
};

// Calls `visit(reader, type)` for each occurrence of `field`; `visit` must read the value.
template <typename Visitor>
void ForEachOccurrence(std::span<const std::string_view> bodies, uint32_t field,
                       const Visitor& visit) {
  for (std::string_view body : bodies) {
    WireReader reader(body);
    uint32_t tag = 0;
    while (!reader.done() && reader.ReadTag(&tag)) {
      const WireType type = static_cast<WireType>(tag & 7);
      const bool match =
          tag >> 3 == field && (type == WireType::kLength || type == ElementWireType(field));
      if (match) {
        visit(reader, type);
      } else if (!reader.SkipValue(tag, kMaxWireDepth)) {
        return;
      }
    }
  }
}

template <typename Writer>
void ConvertVarints(std::span<const std::string_view> bodies, uint32_t field, Writer& writer) {
  ForEachOccurrence(bodies, field, [&writer](WireReader& reader, WireType type) {
    uint64_t value = 0;
    if (type == WireType::kVarint) {
      if (reader.ReadVarint(&value)) writer.Varint(value);
      return;
    }
    std::string_view packed;
    if (!reader.ReadBytes(&packed)) return;
    WireReader elements(packed);
    while (!elements.done() && elements.ReadVarint(&value)) writer.Varint(value);
  });
}

// Copies fp32 and fp64 elements: their packed encoding is the raw layout.
void ConvertFixed(std::span<const std::string_view> bodies, uint32_t field, char* to) {
  ForEachOccurrence(bodies, field, [&to](WireReader& reader, WireType type) {
    uint32_t word = 0;
    uint64_t double_word = 0;
    std::string_view packed;
    if (type == WireType::kFixed32 && reader.ReadFixed32(&word)) {
      packed = {reinterpret_cast<const char*>(&word), sizeof(word)};
    } else if (type == WireType::kFixed64 && reader.ReadFixed64(&double_word)) {
      packed = {reinterpret_cast<const char*>(&double_word), sizeof(double_word)};
    } else if (type == WireType::kLength && !reader.ReadBytes(&packed)) {
      return;
    }
    if (packed.empty()) return;
    std::memcpy(to, packed.data(), packed.size());
    to += packed.size();
  });
}

void ConvertBytes(std::span<const std::string_view> bodies, char* to) {
  ForEachOccurrence(bodies, static_cast<uint32_t>(ContentsField::kBytes),
                    [&to](WireReader& reader, WireType) {
                      std::string_view element;
                      if (!reader.ReadBytes(&element)) return;
                      const uint32_t size = static_cast<uint32_t>(element.size());
                      std::memcpy(to, &size, sizeof(size));
                      to += sizeof(size);
                      if (size != 0) std::memcpy(to, element.data(), size);
                      to += size;
                    });
}

// Returns INVALID_ARGUMENT, with the input's name, for a number that T cannot hold.
template <typename T, typename Field>
base::Status ConvertIntegers(std::span<const std::string_view> bodies, uint32_t field,
                             const ContentsTarget& target, char* to) {
  ElementWriter<T, Field> writer(to);
  ConvertVarints(bodies, field, writer);
  if (writer.wrong().empty()) return base::Status::Ok();
  return base::OutOfRange("input '" + std::string(target.name) + "'", writer.wrong(),
                          tensor::DataTypeName(target.type));
}

base::Status Convert(std::span<const std::string_view> bodies, ContentsField field,
                     const ContentsTarget& target, char* to) {
  const auto number = static_cast<uint32_t>(field);
  switch (field) {
    case ContentsField::kBool: {
      BoolWriter writer(to);
      ConvertVarints(bodies, number, writer);
      return base::Status::Ok();
    }
    case ContentsField::kInt:
      if (target.type == tensor::DataType::kInt8) {
        return ConvertIntegers<int8_t, int32_t>(bodies, number, target, to);
      }
      if (target.type == tensor::DataType::kInt16) {
        return ConvertIntegers<int16_t, int32_t>(bodies, number, target, to);
      }
      return ConvertIntegers<int32_t, int32_t>(bodies, number, target, to);
    case ContentsField::kInt64:
      return ConvertIntegers<int64_t, int64_t>(bodies, number, target, to);
    case ContentsField::kUint:
      if (target.type == tensor::DataType::kUint8) {
        return ConvertIntegers<uint8_t, uint32_t>(bodies, number, target, to);
      }
      if (target.type == tensor::DataType::kUint16) {
        return ConvertIntegers<uint16_t, uint32_t>(bodies, number, target, to);
      }
      return ConvertIntegers<uint32_t, uint32_t>(bodies, number, target, to);
    case ContentsField::kUint64:
      return ConvertIntegers<uint64_t, uint64_t>(bodies, number, target, to);
    case ContentsField::kFp32:
    case ContentsField::kFp64:
      ConvertFixed(bodies, number, to);
      return base::Status::Ok();
    case ContentsField::kBytes:
      break;
  }
  ConvertBytes(bodies, to);
  return base::Status::Ok();
}

}  // namespace

bool CountContents(std::string_view body, int depth, ContentsView* contents) {
  WireReader reader(body);
  while (!reader.done()) {
    uint32_t tag = 0;
    bool known = false;
    if (!reader.ReadTag(&tag) || !CountField(reader, tag, contents, &known)) return false;
    if (!known && !reader.SkipValue(tag, depth)) return false;
  }
  return true;
}

base::Result<memory::HostBuffer> ConvertContents(std::span<const std::string_view> bodies,
                                                 const ContentsView& contents, ContentsField field,
                                                 const ContentsTarget& target) {
  const bool bytes = field == ContentsField::kBytes;
  const uint32_t width = bytes ? 4 : tensor::DataTypeByteSize(target.type);
  // Every element takes at least one byte of a message below 2 GiB, so neither sum can overflow.
  const uint64_t size =
      contents.counts[static_cast<uint32_t>(field)] * width + (bytes ? contents.bytes_size : 0);
  memory::HostBuffer buffer = memory::HostBuffer::Allocate(size);
  if (size != 0 && !buffer) {
    return base::Status::Unavailable("out of memory: an input's contents need " +
                                     std::to_string(size) + " bytes");
  }
  NEREID_RETURN_IF_ERROR(Convert(bodies, field, target, buffer.data()));
  return buffer;
}

}  // namespace nereid::codec::proto
