// SPDX-License-Identifier: Apache-2.0
#include "framework/division_trap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <limits>
#include <vector>

namespace nereid::framework {
namespace {

struct Instruction {
  const char* text;
  std::vector<uint8_t> code;
};

constexpr uint64_t kOnes = ~uint64_t{0};

/// The smallest number of either width.
DivisionRegisters SmallestOf(const std::vector<uint8_t>& code) {
  const bool wide = (code[0] & 0xf8) == 0x48;
  return {wide ? uint64_t{1} << 63 : uint64_t{1} << 31, wide ? kOnes : 0xffff'ffff};
}

TEST(FinishDivision, KnowsHowLongADivisionIs) {
  for (const Instruction& division :
       std::vector<Instruction>{{"idiv ecx", {0xf7, 0xf9}},
                                {"idiv r9d", {0x41, 0xf7, 0xf9}},
                                {"idiv r9", {0x49, 0xf7, 0xf9}},
                                {"idiv dword [rdi]", {0xf7, 0x3f}},
                                {"idiv dword [rdi+8]", {0xf7, 0x7f, 8}},
                                {"idiv qword [r8+0x100]", {0x49, 0xf7, 0xb8, 0, 1, 0, 0}},
                                {"idiv dword [rip+4]", {0xf7, 0x3d, 4, 0, 0, 0}},
                                {"idiv dword [rdi+rsi*4]", {0xf7, 0x3c, 0xb7}},
                                {"idiv dword [rsp+4]", {0xf7, 0x7c, 0x24, 4}},
                                {"idiv dword [rsi*4+4]", {0xf7, 0x3c, 0xb5, 4, 0, 0, 0}}}) {
    DivisionRegisters registers = SmallestOf(division.code);
    const uint64_t smallest = registers.rax;
    EXPECT_EQ(FinishDivision(division.code.data(), &registers), division.code.size())
        << division.text;
    EXPECT_EQ(registers.rax, smallest);
    EXPECT_EQ(registers.rdx, 0U);
  }
}

TEST(FinishDivision, LeavesOtherInstructionsAlone) {
  for (const Instruction& other : std::vector<Instruction>{{"div ecx", {0xf7, 0xf1}},
                                                           {"idiv cl", {0xf6, 0xf9}},
                                                           {"neg ecx", {0xf7, 0xd9}},
                                                           {"add eax, ecx", {0x01, 0xc8}},
                                                           {"nop", {0x90, 0x90}}}) {
    DivisionRegisters registers = SmallestOf(other.code);
    EXPECT_EQ(FinishDivision(other.code.data(), &registers), 0U) << other.text;
    EXPECT_EQ(registers.rdx, 0xffff'ffffU);
  }
}

TEST(FinishDivision, LeavesADivisionByZeroAlone) {
  const std::vector<uint8_t> narrow = {0xf7, 0xf9};
  const std::vector<uint8_t> wide = {0x48, 0xf7, 0xf9};
  for (DivisionRegisters registers :
       {DivisionRegisters{7, 0}, {0xffff'fff9, 0xffff'ffff}, {0x8000'0000, 0}}) {
    EXPECT_EQ(FinishDivision(narrow.data(), &registers), 0U);
    EXPECT_EQ(FinishDivision(wide.data(), &registers), 0U);
  }
}

#ifdef __x86_64__

template <typename T>
struct Result {
  T quotient;
  T remainder;
  bool operator==(const Result&) const = default;
};

/// The compiler would be free to leave out a division of its own.
Result<int32_t> Divide(int32_t a, int32_t b) {
  Result<int32_t> result;
  asm volatile("cltd\n\tidivl %[b]"
               : "=a"(result.quotient), "=&d"(result.remainder)
               : "a"(a), [b] "r"(b));
  return result;
}

Result<int64_t> Divide(int64_t a, int64_t b) {
  Result<int64_t> result;
  asm volatile("cqto\n\tidivq %[b]"
               : "=a"(result.quotient), "=&d"(result.remainder)
               : "a"(a), [b] "m"(b));
  return result;
}

template <typename T>
void ExpectResults() {
  constexpr T kSmallest = std::numeric_limits<T>::min();
  EXPECT_EQ(Divide(kSmallest, T{-1}), (Result<T>{kSmallest, 0}));
  EXPECT_EQ(Divide(T{-7}, T{2}), (Result<T>{-3, -1}));
}

void LetThisProgramPass() {
  LetOverflowsPass(reinterpret_cast<const void*>(&ExpectResults<int32_t>));
}

// Death tests come first, in processes of their own. Sanitizers take the signal too.
TEST(LetOverflowsPassDeathTest, WithoutItTheProcessEnds) {
  EXPECT_EXIT(
      {
        std::signal(SIGFPE, SIG_DFL);
        Divide(INT32_MIN, -1);
      },
      ::testing::KilledBySignal(SIGFPE), "");
}

TEST(LetOverflowsPassDeathTest, ASignalThatIsSentEndsTheProcess) {
  EXPECT_EXIT(
      {
        std::signal(SIGFPE, SIG_DFL);
        LetThisProgramPass();
        raise(SIGFPE);
      },
      ::testing::KilledBySignal(SIGFPE), "");
}

TEST(LetOverflowsPassDeathTest, ADivisionByZeroEndsTheProcess) {
  EXPECT_EXIT(
      {
        std::signal(SIGFPE, SIG_DFL);
        LetThisProgramPass();
        Divide(7, 0);
      },
      ::testing::KilledBySignal(SIGFPE), "");
}

TEST(LetOverflowsPassDeathTest, AnotherLibrarysTrapGoesToTheHandlerBefore) {
  EXPECT_EXIT(
      {
        std::signal(SIGFPE, [](int) { _exit(3); });
        LetOverflowsPass(reinterpret_cast<const void*>(&std::printf));
        Divide(INT32_MIN, -1);
      },
      ::testing::ExitedWithCode(3), "");
}

TEST(LetOverflowsPass, TheLibraryGoesOn) {
  LetThisProgramPass();
  LetThisProgramPass();
  ExpectResults<int32_t>();
  ExpectResults<int64_t>();
}

#endif

}  // namespace
}  // namespace nereid::framework
