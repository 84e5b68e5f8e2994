// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/contents.h"

#include <cstring>
#include <limits>
#include <string>

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

// Writes elements of one C++ type one after the other.
template <typename T>
class ElementWriter {
 public:
  explicit ElementWriter(char* to) : to_(to) {}
  void Varint(uint64_t value) { Put(static_cast<T>(value)); }
  void Put(T value) {
    std::memcpy(to_, &value, sizeof(T));
    to_ += sizeof(T);
  }

 private:
  char* to_;
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
void ConvertVarints(std::span<const std::string_view> bodies, uint32_t field, Writer writer) {
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

void ConvertIntegers(std::span<const std::string_view> bodies, uint32_t field, uint32_t width,
                     char* to) {
  switch (width) {
    case 1:
      return ConvertVarints(bodies, field, ElementWriter<uint8_t>(to));
    case 2:
      return ConvertVarints(bodies, field, ElementWriter<uint16_t>(to));
    case 4:
      return ConvertVarints(bodies, field, ElementWriter<uint32_t>(to));
    default:
      return ConvertVarints(bodies, field, ElementWriter<uint64_t>(to));
  }
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
                                                 tensor::DataType type) {
  const uint32_t number = static_cast<uint32_t>(field);
  const uint32_t width = field == ContentsField::kBytes ? 4 : tensor::DataTypeByteSize(type);
  // Every element takes at least one byte of a message below 2 GiB, so neither sum can overflow.
  const uint64_t size =
      contents.counts[number] * width + (field == ContentsField::kBytes ? contents.bytes_size : 0);
  memory::HostBuffer buffer = memory::HostBuffer::Allocate(size);
  if (size != 0 && !buffer) {
    return base::Status::Unavailable("out of memory: an input's contents need " +
                                     std::to_string(size) + " bytes");
  }
  char* const to = buffer.data();
  switch (field) {
    case ContentsField::kBool:
      ConvertVarints(bodies, number, BoolWriter(to));
      break;
    case ContentsField::kFp32:
    case ContentsField::kFp64:
      ConvertFixed(bodies, number, to);
      break;
    case ContentsField::kBytes:
      ConvertBytes(bodies, to);
      break;
    default:
      ConvertIntegers(bodies, number, width, to);
  }
  return buffer;
}

}  // namespace nereid::codec::proto
