// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::framework {

/// Lets divisions of the smallest number by -1, which end a process on x86 (SIGFPE), go on in the
/// library that holds the code at `address`: the quotient is the smallest number, as in NumPy and
/// as other processors have it, and the remainder 0. Frameworks look for a divisor of 0 themselves,
/// but not for this, so that a client's tensors would end the server. Everything else goes to
/// whoever took the signal before. Once this is called, the plug-in must stay loaded (KEEP_LOADED
/// in backends/CMakeLists.txt). Thread-safe; at most eight libraries of a plug-in; does nothing on
/// processors of other kinds.
void LetOverflowsPass(const void* address);

/// What idiv works on: RDX:RAX is the dividend, then RAX the quotient and RDX the remainder.
struct DivisionRegisters {
  uint64_t rax = 0;
  uint64_t rdx = 0;
};

/// Does what the idiv (of 32 or 64 bits) at `code`, which trapped, should have done, and returns
/// the length of the instruction; 0, and nothing is done, for other instructions and dividends.
size_t FinishDivision(const uint8_t* code, DivisionRegisters* registers);

}  // namespace nereid::framework
