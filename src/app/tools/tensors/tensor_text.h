// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/tools/tensors/tensor.h"

namespace nereid::app::tools {

/// Returns a tensor for people, with a line end: the name, the type and the shape; then the
/// elements, in lists as NumPy writes them. A tensor of more than `max_elements` elements is
/// summarized: three at each end of every dimension, and the smallest, the largest and the mean
/// number. Strings have at most 80 characters each, with the escapes of TerminalText. The tensor
/// must be consistent.
std::string TensorText(const Tensor& tensor, int64_t max_elements = 200);

/// Returns the result of a classification, a BYTES tensor of "value:index[:label]", as a table.
/// Elements of another form are shown as they are.
std::string ClassesText(const Tensor& tensor);

/// Returns whether every element has the form "value:index[:label]".
bool AreClasses(const Tensor& tensor);

}  // namespace nereid::app::tools
