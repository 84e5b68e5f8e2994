// SPDX-License-Identifier: Apache-2.0
// What is too much for an event loop: up to these sizes a request is decoded, and an answer
// encoded, in a millisecond or two where it arrives; a hand-over to another thread costs some ten
// microseconds.
#pragma once

#include <cstddef>

namespace nereid::frontend::http {

/// Bytes of JSON to be read.
inline constexpr size_t kMostJsonOnLoop = size_t{256} << 10;
/// Bytes of a compressed body; they may be a thousand times as many when inflated.
inline constexpr size_t kMostPackedOnLoop = 512;
/// Bytes of tensors to be written as JSON, or to be sorted for classification.
inline constexpr size_t kMostTextOnLoop = size_t{64} << 10;
/// Bytes of tensors to be compressed, after they were written as JSON perhaps.
inline constexpr size_t kMostToPackOnLoop = size_t{8} << 10;
/// A model whose requests are this large does not run on the loop, however short its usual
/// executions are.
inline constexpr size_t kMostInlineBody = size_t{4} << 20;
/// Bytes of memory to be given back to the system: it takes the kernel a few milliseconds for 64
/// MiB.
inline constexpr size_t kMostFreedOnLoop = size_t{64} << 20;

}  // namespace nereid::frontend::http
