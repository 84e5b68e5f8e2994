// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "caffe2/operator.h"

namespace nereid::caffe2 {

/// A data type given as an argument: the number of Caffe2's enumeration or its name in any case.
/// Leaves `*type` as it is where there is no such argument.
Error ReadType(const Operator& op, const char* name, Type* type);

}  // namespace nereid::caffe2
