// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace nereid::app {

/// Raises the soft limit of open files, and with it of connections, to the hard limit, but not
/// above 1,048,576, because some libraries iterate over all descriptors up to the limit. Never
/// lowers the limit. Does nothing if the system refuses the change.
void RaiseFileLimit();

/// Makes the kernel's table of this process's descriptors large enough for 16,384, or for the limit
/// if that is lower, by opening and closing the last one: 128 KiB of the kernel's memory. A table
/// that grows later, when the process has several threads, is exchanged only after each CPU has
/// switched threads (synchronize_rcu in the kernel's fs/file.c): the accept() or open() that needed
/// it waits for 5 to 20 ms each time the table is doubled, and with it the event loop. To be called
/// before the first thread starts, and after RaiseFileLimit().
void ReserveDescriptors();

/// Returns how many connections all clients together may hold open: a part of the descriptors is
/// kept for models, so that a flood of connections does not make loads fail.
size_t MaxConnections();

/// Returns how many regions of shared memory clients may register: each takes a descriptor.
size_t MaxSharedRegions();

}  // namespace nereid::app
