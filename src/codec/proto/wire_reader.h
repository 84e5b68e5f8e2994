// SPDX-License-Identifier: Apache-2.0
// The reader of protobuf's wire format, under the names of this folder.
#pragma once

#include "base/wire_reader.h"

namespace nereid::codec::proto {

using base::kMaxWireDepth;
using base::MakeTag;
using base::WireReader;
using base::WireType;

}  // namespace nereid::codec::proto
