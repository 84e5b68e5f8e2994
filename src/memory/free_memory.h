// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::memory {

/// Gives the kernel back the pages that malloc holds and nobody uses. Malloc by itself gives back
/// only what is free at the end of an arena, and threads have arenas of their own: a model that was
/// loaded by one thread and its successor by another take new memory although the first is gone.
/// Takes about a millisecond for each hundred megabytes of small free pieces, with the lock of one
/// arena at a time: for moments after which memory is not taken again at once. Any thread.
void ReturnFreeMemory();

}  // namespace nereid::memory
