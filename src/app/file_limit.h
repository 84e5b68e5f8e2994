// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::app {

/// Lets the process open as many files, and so connections, as it may have at all: raises the soft
/// limit to the hard one, but not beyond a million, for there are programs that go through all
/// numbers up to the limit. Never lowers it; does nothing where it cannot.
void RaiseFileLimit();

}  // namespace nereid::app
