// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace nereid::framework {

/// Prevents SIGFPE for a division of the smallest integer by -1 in the library that contains the
/// code at `address`. On x86 such a division ends the process. With this function it returns the
/// smallest integer (as in NumPy and on other processors) with remainder 0. Frameworks check for a
/// divisor of 0 but not for this case, so a client's tensors could end the server. Other signals go
/// to the previous handler. The plug-in must stay loaded after the call (KEEP_LOADED in
/// backends/CMakeLists.txt). Thread-safe. At most eight libraries for each plug-in. Does nothing on
/// other processors.
void LetOverflowsPass(const void* address);

/// The registers of the idiv instruction. RDX:RAX is the dividend; afterwards RAX is the quotient
/// and RDX the remainder.
struct DivisionRegisters {
  uint64_t rax = 0;
  uint64_t rdx = 0;
};

/// Emulates the idiv instruction (32 or 64 bits) at `code` that has trapped, and returns its
/// length. Returns 0 and changes nothing for other instructions and dividends. Format: Intel SDM,
/// volume 2.
size_t FinishDivision(const uint8_t* code, DivisionRegisters* registers);

}  // namespace nereid::framework
