// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tensor/data_type.h"

namespace nereid::tensor {

/// A dimension of any size, in model configurations.
inline constexpr int64_t kVariableDim = -1;

/// Dimensions, outermost first. With batching, the batch is the first dimension.
using Shape = std::vector<int64_t>;

/// Returns the number of elements (1 for an empty shape), or nothing if a dimension is negative or
/// the product of the dimensions other than 0 exceeds int64.
std::optional<int64_t> ElementCount(std::span<const int64_t> shape);

/// Returns the size in bytes of a tensor whose elements have a fixed size. Returns nothing for
/// BYTES, kInvalid, a negative dimension or a product that exceeds its type.
std::optional<uint64_t> ByteSize(DataType type, std::span<const int64_t> shape);

/// Returns the size in bytes of a tensor of zeros. Like ByteSize, but also for BYTES: its elements
/// are empty strings, each of which has a length field of four bytes.
std::optional<uint64_t> ZeroByteSize(DataType type, std::span<const int64_t> shape);

/// Returns `shape` with each kVariableDim replaced by 1: the initial shape of a tensor of variable
/// size.
Shape WithoutVariableDims(Shape shape);

/// Returns whether `shape` matches `pattern`, in which kVariableDim matches any size from 0 on.
bool ShapeMatches(std::span<const int64_t> pattern, std::span<const int64_t> shape);

/// Returns a shape in the form of error messages, such as "[2,-1,3]".
std::string ShapeText(std::span<const int64_t> shape);

}  // namespace nereid::tensor
