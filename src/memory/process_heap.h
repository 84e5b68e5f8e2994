// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::memory {

/// Has malloc serve all threads from one arena for each of `cpus` (two at least), not from up to
/// eight: what one thread has freed is of no use to another one with another arena, so that with
/// many arenas a server whose models and clients come and go grows for hours. To be called before
/// a second thread starts. Does nothing where the environment says how many there are
/// (MALLOC_ARENA_MAX, or glibc.malloc.arena_max in GLIBC_TUNABLES).
void BoundHeapArenas(int cpus);

/// Gives the kernel back the pages that malloc holds and nobody uses. Malloc by itself gives back
/// only what is free at the end of an arena, and a model that is replaced is freed when its
/// successor is there already: what it leaves lies in the middle. Takes about a millisecond for
/// each hundred megabytes of small free pieces, with the lock of one arena at a time: for moments
/// after which memory is not taken again at once. Any thread.
void ReturnFreeMemory();

}  // namespace nereid::memory
