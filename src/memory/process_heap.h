// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::memory {

/// Limits malloc to `cpus` arenas (at least two) instead of the default of up to eight per CPU.
/// Memory that one thread has freed cannot be reused by a thread with a different arena. With many
/// arenas a server whose models and clients come and go therefore grows for hours. Must be called
/// before a second thread starts. Does nothing if the environment sets the number of arenas
/// (MALLOC_ARENA_MAX, or glibc.malloc.arena_max in GLIBC_TUNABLES), or with a C library other than
/// glibc.
void BoundHeapArenas(int cpus);

/// Returns unused pages of the heap to the kernel. Malloc returns only the free memory at the end
/// of an arena, but a replaced model is freed after its successor was loaded, so its memory lies in
/// the middle. Takes about a millisecond for each 100 MB of small free blocks and holds the lock of
/// one arena at a time. Meant for moments after which the memory is not needed again at once. May
/// be called from any thread.
void ReturnFreeMemory();

}  // namespace nereid::memory
