// SPDX-License-Identifier: Apache-2.0
// The limits of what an event loop does itself. Up to these sizes, decoding a request or encoding a
// response takes a millisecond or two, and is done on the loop. Larger work goes to another thread,
// which costs some ten microseconds.
#pragma once

#include <cstddef>

namespace nereid::frontend::http {

/// Bytes of JSON to be parsed.
inline constexpr size_t kMaxJsonOnLoop = size_t{256} << 10;
/// Bytes of a compressed body, which may inflate to a thousand times as many.
inline constexpr size_t kMaxPackedOnLoop = 512;
/// Bytes of tensors to be written as JSON, or to be sorted for classification.
inline constexpr size_t kMaxTextOnLoop = size_t{64} << 10;
/// Bytes of tensors to be compressed, perhaps after they were written as JSON.
inline constexpr size_t kMaxToPackOnLoop = size_t{8} << 10;
/// Bytes of a request that may run on the loop. A model with larger requests does not, however
/// short its usual executions are.
inline constexpr size_t kMaxInlineBody = size_t{4} << 20;
/// Bytes of memory to be given back to the kernel, which needs a few milliseconds for 64 MiB.
inline constexpr size_t kMaxFreedOnLoop = size_t{64} << 20;

}  // namespace nereid::frontend::http
