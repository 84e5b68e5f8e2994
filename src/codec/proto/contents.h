// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "codec/proto/infer_request_view.h"
#include "memory/host_buffer.h"
#include "tensor/data_type.h"

namespace nereid::codec::proto {

/// Checks one encoded InferTensorContents and adds its elements to the counts. False if malformed.
bool CountContents(std::string_view body, int depth, ContentsView* contents);

/// The bytes of a tensor of type `type` from the elements of `field`, in the layout of raw
/// contents: little-endian, integers cut to the low-order bytes, BYTES elements behind a uint32
/// length. `bodies` must have passed CountContents. UNAVAILABLE when memory runs out.
base::Result<memory::HostBuffer> ConvertContents(std::span<const std::string_view> bodies,
                                                 const ContentsView& contents, ContentsField field,
                                                 tensor::DataType type);

}  // namespace nereid::codec::proto
