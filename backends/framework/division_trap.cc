// SPDX-License-Identifier: Apache-2.0
#include "framework/division_trap.h"

#include <link.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <atomic>

#include "base/mutex.h"
#include "base/previous_handler.h"

namespace nereid::framework {
namespace {

/// Returns the length of a ModRM byte with its SIB byte and displacement.
size_t OperandLength(const uint8_t* modrm) {
  const int mod = *modrm >> 6;
  const int rm = *modrm & 7;
  if (mod == 3) {
    return 1;
  }
  const bool sib = rm == 4;
  const size_t length = sib ? 2 : 1;
  if (mod == 1) {
    return length + 1;
  }
  const bool bare = mod == 0 && (sib ? (modrm[1] & 7) == 5 : rm == 5);
  return length + (mod == 2 || bare ? 4 : 0);
}

#ifdef __x86_64__

struct CodeRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

// The signal handler reads the ranges below `known` without a lock. A new range is written under
// the lock of LetOverflowsPass before `known` is increased with release order.
std::array<CodeRange, 8> ranges;
std::atomic<size_t> known{0};
struct sigaction previous;

bool MayPass(uintptr_t at) {
  for (size_t i = 0; i < known.load(std::memory_order_acquire); ++i) {
    if (at >= ranges[i].begin && at < ranges[i].end) {
      return true;
    }
  }
  return false;
}

/// The signal handler. It is async-signal-safe: it only reads code and registers, and changes
/// registers.
void OnTrap(int signal, siginfo_t* info, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto at = static_cast<uintptr_t>(registers[REG_RIP]);
  if (info->si_code == FPE_INTDIV && MayPass(at)) {
    DivisionRegisters values{static_cast<uint64_t>(registers[REG_RAX]),
                             static_cast<uint64_t>(registers[REG_RDX])};
    const size_t length = FinishDivision(reinterpret_cast<const uint8_t*>(at), &values);
    if (length != 0) {
      registers[REG_RAX] = static_cast<greg_t>(values.rax);
      registers[REG_RDX] = static_cast<greg_t>(values.rdx);
      registers[REG_RIP] += static_cast<greg_t>(length);
      return;
    }
  }
  base::CallPreviousHandler(previous, signal, info, context);
}

struct Search {
  uintptr_t address = 0;
  CodeRange found = {};
};

/// Finds the executable segment that contains the address, in one loaded object (a callback of
/// dl_iterate_phdr).
int FindCode(dl_phdr_info* object, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && search->address >= begin &&
        search->address - begin < segment.p_memsz) {
      search->found = {begin, begin + segment.p_memsz};
      return 1;
    }
  }
  return 0;
}

#endif

}  // namespace

size_t FinishDivision(const uint8_t* code, DivisionRegisters* registers) {
  const uint8_t* at = code;
  uint64_t mask = 0xffff'ffff;
  if ((*at & 0xf0) == 0x40) {  // a REX prefix; its bit W means 64 bits
    mask = (*at & 8) != 0 ? ~uint64_t{0} : mask;
    ++at;
  }
  if (*at != 0xf7 || ((at[1] >> 3) & 7) != 7) {
    return 0;
  }
  ++at;
  // The dividend is the smallest integer with sign extension. Only the divisors -1 and 0 trap then,
  // and frameworks check for 0.
  const uint64_t smallest = mask ^ (mask >> 1);
  if ((registers->rax & mask) != smallest || (registers->rdx & mask) != mask) {
    return 0;
  }
  *registers = {smallest, 0};
  return static_cast<size_t>(at - code) + OperandLength(at);
}

#ifdef __x86_64__
void LetOverflowsPass(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address)};
  if (dl_iterate_phdr(FindCode, &search) == 0) {
    return;
  }
  static base::Mutex mutex;  // guards no member: OnTrap reads `ranges` without a lock
  const base::MutexLock lock(mutex);
  const size_t count = known.load(std::memory_order_relaxed);
  if (MayPass(search.address) || count == ranges.size()) {
    return;
  }
  ranges[count] = search.found;
  known.store(count + 1, std::memory_order_release);
  if (count == 0) {
    struct sigaction action = {};
    action.sa_sigaction = OnTrap;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGFPE, &action, &previous);
  }
}
#else
void LetOverflowsPass(const void*) {}
#endif

}  // namespace nereid::framework
