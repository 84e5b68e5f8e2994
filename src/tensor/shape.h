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

/// The size of a dimension that is not fixed, in configurations.
inline constexpr int64_t kVariableDim = -1;

/// Dimensions, outermost first. A model with batching has the batch dimension first.
using Shape = std::vector<int64_t>;

/// The number of elements (1 for an empty shape); nothing if a dimension is negative or the product
/// does not fit into int64.
std::optional<int64_t> ElementCount(std::span<const int64_t> shape);

/// The bytes that a tensor of a fixed-size type takes; nothing for BYTES, kInvalid, a negative
/// dimension or a product that does not fit into uint64.
std::optional<uint64_t> ByteSize(DataType type, std::span<const int64_t> shape);

/// The bytes of a tensor of zeros: as ByteSize, but BYTES too, whose elements are empty, so that
/// the four bytes of the length of each are left.
std::optional<uint64_t> ZeroByteSize(DataType type, std::span<const int64_t> shape);

/// `shape` with 1 for each kVariableDim: where tensors of variable size begin.
Shape WithoutVariableDims(Shape shape);

/// Whether `shape` fits `pattern`, in which kVariableDim stands for any size >= 0.
bool ShapeMatches(std::span<const int64_t> pattern, std::span<const int64_t> shape);

/// "[2,-1,3]", as error messages show shapes.
std::string ShapeText(std::span<const int64_t> shape);

}  // namespace nereid::tensor
