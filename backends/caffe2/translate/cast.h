// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "caffe2/operator.h"

namespace nereid::caffe2 {

/// Reads a data type from an argument: the number in Caffe2's enum, or its name in any case. Leaves
/// `*type` unchanged if there is no such argument.
Error ReadType(const Operator& op, const char* name, Type* type);

}  // namespace nereid::caffe2
