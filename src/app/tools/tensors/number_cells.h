// SPDX-License-Identifier: Apache-2.0
// The elements of tensors of numbers: from numbers to bytes and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "codec/json/number_text.h"
#include "tensor/data_type.h"

namespace nereid::app::tools {

/// Conversions of the 16-bit types: FP16 is IEEE 754 binary16, BF16 the upper half of an FP32. To
/// 16 bits they round to the nearest value, to the even one between two.
uint16_t HalfFromFloat(float value);
float FloatFromHalf(uint16_t bits);
uint16_t BfloatFromFloat(float value);
float FloatFromBfloat(uint16_t bits);

/// Appends `number` as an element of `type`. INVALID_ARGUMENT if the type cannot hold it: a
/// fraction in an integer, or a number out of range. BOOL takes 0 and 1.
base::Status AppendCell(tensor::DataType type, const codec::json::Number& number,
                        std::string* bytes);

/// Returns the element at `cell`, which has DataTypeByteSize(type) bytes. BOOL gives 0 or 1.
codec::json::Number ReadCell(tensor::DataType type, const char* cell);

/// Returns the element as text for people: the shortest decimal that reads back as the same value
/// of this type, "true" or "false", "nan".
std::string CellText(tensor::DataType type, const char* cell);

}  // namespace nereid::app::tools
