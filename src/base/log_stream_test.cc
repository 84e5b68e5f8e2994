// SPDX-License-Identifier: Apache-2.0
#include "base/log_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/files.h"

namespace nereid::base {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{20000};

std::string Notice(uint64_t lines) { return "dropped " + std::to_string(lines) + "\n"; }

struct Ends {
  int reader = -1, writer = -1;
};

Ends Pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return {ends[0], ends[1]};
}

Ends SocketPair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {ends[0], ends[1]};
}

/// Reads until `size` bytes or the end.
std::string Read(int descriptor, size_t size) {
  std::string text(size, 0);
  size_t got = 0;
  while (got < size) {
    const ssize_t n = ::read(descriptor, text.data() + got, size - got);
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  text.resize(got);
  return text;
}

std::string Line(int number) { return "line " + std::to_string(number) + "\n"; }

class UnreadLogTest : public ::testing::TestWithParam<Ends (*)()> {};

TEST_P(UnreadLogTest, NobodyWaitsForAReaderAndNothingIsLostOrMixedUp) {
  const Ends ends = GetParam()();
  std::string expected;
  {
    LogStream stream(ends.writer, Notice);
    // More than any pipe or socket takes, less than what is kept.
    for (int i = 0; expected.size() < LogStream::kMaxKept / 2; ++i) {
      expected += Line(i);
      stream.Write(Line(i));
    }
    EXPECT_FALSE(stream.Flush(milliseconds(1), milliseconds(1)));
    EXPECT_EQ(Read(ends.reader, expected.size()), expected);
    EXPECT_TRUE(stream.Flush(kLong, kLong));
    stream.Write("after\n");
    EXPECT_EQ(Read(ends.reader, 6), "after\n");
  }
  ::close(ends.reader);
  ::close(ends.writer);
}

TEST_P(UnreadLogTest, WhatIsTooMuchIsCounted) {
  const Ends ends = GetParam()();
  {
    LogStream stream(ends.writer, Notice);
    const std::string line(1023, 'x');
    const int count = 3 * static_cast<int>(LogStream::kMaxKept / 1024);
    for (int i = 0; i < count; ++i) stream.Write(line + "\n");
    int whole = 0;
    std::string begin = Read(ends.reader, 8);
    for (; begin == "xxxxxxxx"; begin = Read(ends.reader, 8)) {
      ++whole;
      EXPECT_EQ(Read(ends.reader, 1024 - 8), line.substr(8) + "\n");
    }
    EXPECT_EQ(begin, "dropped ");
    EXPECT_EQ(whole + std::stoi(Read(ends.reader, 5)), count);
    EXPECT_GE(whole, static_cast<int>(LogStream::kMaxKept / 2048));
  }
  ::close(ends.reader);
  ::close(ends.writer);
}

TEST_P(UnreadLogTest, TheStreamOfOthersIsLeftAsItIs) {
  const Ends ends = GetParam()();
  {
    LogStream stream(ends.writer, Notice);
    stream.Write("a\n");
    EXPECT_EQ(Read(ends.reader, 2), "a\n");
  }
  EXPECT_EQ(::fcntl(ends.writer, F_GETFL) & O_NONBLOCK, 0);
  ::close(ends.reader);
  ::close(ends.writer);
}

INSTANTIATE_TEST_SUITE_P(Readers, UnreadLogTest, ::testing::Values(&Pipe, &SocketPair));

TEST(LogStreamTest, AReaderThatHasGoneCostsTheLinesAlone) {
  const Ends ends = SocketPair();
  LogStream stream(ends.writer, Notice);
  ::close(ends.reader);
  for (int i = 0; i < 1000; ++i) stream.Write(Line(i));
  EXPECT_TRUE(stream.Flush(kLong, kLong));
  ::close(ends.writer);
}

TEST(LogStreamTest, AFileThatWasMovedAwayIsFollowedByAnother) {
  const std::string path = ::testing::TempDir() + "log_stream_test_" + std::to_string(::getpid());
  auto stream = LogStream::Open(path, Notice);
  ASSERT_TRUE(stream.ok());
  (*stream)->Write("one\n");
  std::filesystem::rename(path, path + ".1");
  (*stream)->Write("two\n");
  ASSERT_TRUE((*stream)->Reopen(path).ok());
  (*stream)->Write("three\n");
  EXPECT_EQ(*ReadFile(path + ".1"), "one\ntwo\n");
  EXPECT_EQ(*ReadFile(path), "three\n");
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".1");
}

TEST(LogStreamTest, AFileThatCannotBeReopenedLeavesTheOldOne) {
  const std::string folder =
      ::testing::TempDir() + "log_stream_folder_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  auto stream = LogStream::Open(folder + "/log", Notice);
  ASSERT_TRUE(stream.ok());
  EXPECT_FALSE((*stream)->Reopen(folder + "/no/log").ok());
  (*stream)->Write("goes on\n");
  EXPECT_EQ(*ReadFile(folder + "/log"), "goes on\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace nereid::base
