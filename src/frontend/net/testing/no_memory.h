// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nereid::frontend::net::testing {

/// Makes operator new fail on this thread as long as the object exists. For test programs that link
/// no_memory.cc, which replaces operator new.
class NoMemory {
 public:
  NoMemory();
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace nereid::frontend::net::testing
