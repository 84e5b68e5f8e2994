// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::frontend::net::testing {

/// While one lives, operator new fails on this thread. For test programs that are linked with
/// no_memory.cc, which replaces operator new.
class NoMemory {
 public:
  NoMemory();
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace nereid::frontend::net::testing
