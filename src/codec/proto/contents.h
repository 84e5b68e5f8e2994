// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "codec/proto/infer_request_view.h"
#include "memory/host_buffer.h"
#include "tensor/data_type.h"

namespace nereid::codec::proto {

/// Checks one encoded InferTensorContents and adds its elements to the counts. Returns false if it
/// is malformed. `depth` is how deep groups may be nested in it.
bool CountContents(std::string_view body, int depth, ContentsView* contents);

/// Returns the elements of `field` as the bytes of a tensor of type `type`, in the layout of raw
/// contents: little-endian, integers cut to their low-order bytes, each BYTES element after its
/// uint32 length. `bodies` must have passed CountContents. Returns UNAVAILABLE when memory is
/// short.
base::Result<memory::HostBuffer> ConvertContents(std::span<const std::string_view> bodies,
                                                 const ContentsView& contents, ContentsField field,
                                                 tensor::DataType type);

}  // namespace nereid::codec::proto
