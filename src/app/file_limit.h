// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace nereid::app {

/// Raises the soft limit of open files, and with it of connections, to the hard limit, but not
/// above 1,048,576, because some libraries iterate over all descriptors up to the limit. Never
/// lowers the limit. Does nothing if the system refuses the change.
void RaiseFileLimit();

/// Returns how many connections all clients together may hold open: a part of the descriptors is
/// kept for models, so that a flood of connections does not make loads fail.
size_t MaxConnections();

/// Returns how many regions of shared memory clients may register: each takes a descriptor.
size_t MaxSharedRegions();

}  // namespace nereid::app
