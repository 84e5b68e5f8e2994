// SPDX-License-Identifier: Apache-2.0
// The raw_input_contents of a ModelInferRequest, found while its bytes arrive, so that they can be
// received apart from its other fields.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid::codec::proto {

/// The fields in front of the first raw_input_contents of a message.
struct RequestStart {
  size_t size = 0;  // in bytes
  std::string_view model_name;
  std::string_view model_version;
};

/// Returns the fields in front of the first raw_input_contents, whose tag is in `begin` too, as
/// views of `begin`. Returns nothing if there are many of them, if they are malformed, or if every
/// input contains the text "BYTES", perhaps as its datatype. Examines a limited number of bytes.
std::optional<RequestStart> FindRawContents(std::string_view begin);

/// Divides the bytes of a message from its first raw_input_contents on. The entries are given out
/// up to the first field of another kind. That field and all behind it are the rest, with further
/// entries; so are bytes that are no field.
class RawContentsReader {
 public:
  enum class Kind : uint8_t {
    kPart,   // a part of a field's tag and size: nothing to store
    kEntry,  // an entry begins, of `entry_size` bytes
    kBytes,  // bytes of the entry
    kRest,   // bytes of the rest
  };
  struct Piece {
    Kind kind = Kind::kPart;
    std::string_view bytes = {};
    size_t entry_size = 0;
  };

  /// `size`: of the message from there on. Entries above `max_entries` belong to the rest.
  RawContentsReader(size_t size, size_t max_entries) : left_(size), entries_left_(max_entries) {}

  /// Takes the next piece, which is a view of `data` or of this object, from the front of `data`,
  /// which is not empty and within the message.
  Piece Next(std::string_view* data);

 private:
  Piece ReadHeader(std::string_view* data);
  Piece BeginRest();

  size_t left_;  // of the message
  size_t entries_left_;
  uint64_t entry_left_ = 0;
  bool in_rest_ = false;
  std::array<char, 15> header_ = {};  // a tag of 5 bytes and a size of 10 at most
  size_t header_size_ = 0;
};

}  // namespace nereid::codec::proto
