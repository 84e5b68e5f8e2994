// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "memory/host_buffer.h"
#include "tensor/data_type.h"

namespace nereid::codec::proto {

/// A range of one of the request's flat lists.
struct ViewRange {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// The fields of InferTensorContents, by field number.
enum class ContentsField : uint8_t {
  kBool = 1,
  kInt = 2,
  kInt64 = 3,
  kUint = 4,
  kUint64 = 5,
  kFp32 = 6,
  kFp64 = 7,
  kBytes = 8,
};
inline constexpr int kContentsFields = 8;

/// The typed contents of an input, checked but not converted.
struct ContentsView {
  bool present = false;
  std::array<uint64_t, kContentsFields + 1> counts = {};  // elements by field number
  uint64_t bytes_size = 0;                                // of all bytes_contents elements
  ViewRange bodies;  // the encoded InferTensorContents messages; several are merged in order
};

/// Checks one encoded InferTensorContents and adds its elements to the counts. Returns false if it
/// is malformed. `depth` is how deep groups may be nested in it.
bool CountContents(std::string_view body, int depth, ContentsView* contents);

/// The input that contents are for. The type must be one that the field can carry.
struct ContentsTarget {
  std::string_view name;
  tensor::DataType type = tensor::DataType::kInvalid;
};

/// Returns the elements of `field` as the bytes of a tensor of the target's type, in the layout of
/// raw contents: little-endian, each BYTES element after its uint32 length. `bodies` must have
/// passed CountContents. Returns INVALID_ARGUMENT for an integer that the type cannot hold, and
/// UNAVAILABLE when memory is short.
base::Result<memory::HostBuffer> ConvertContents(std::span<const std::string_view> bodies,
                                                 const ContentsView& contents, ContentsField field,
                                                 const ContentsTarget& target);

}  // namespace nereid::codec::proto
