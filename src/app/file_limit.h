// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace nereid::app {

/// Lets the process open as many files, and so connections, as it may have at all: raises the soft
/// limit to the hard one, but not beyond a million, for there are programs that go through all
/// numbers up to the limit. Never lowers it; does nothing where it cannot.
void RaiseFileLimit();

/// Returns how many connections all clients together may hold open: a part of the descriptors is
/// kept for models, so that a flood of connections does not make loads fail.
size_t MaxConnections();

}  // namespace nereid::app
