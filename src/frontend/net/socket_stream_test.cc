// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/socket_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "frontend/net/epoll_loop.h"
#include "frontend/net/testing/manual_loop.h"
#include "frontend/net/testing/recording_owner.h"

namespace nereid::frontend::net {
namespace {

using State = ByteStream::State;

/// A stream over one end of a Unix socket pair; the test is the peer at the other end.
class SocketStreamTest : public ::testing::Test, protected testing::RecordingOwner {
 protected:
  SocketStreamTest() {
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
    peer_ = Socket(pair[0]);
    stream_ = loop_->NewStream(Socket(pair[1]));
    EXPECT_TRUE(stream_->Open(*this));
  }

  void Send(const std::string& bytes) {
    ASSERT_EQ(write(peer_.descriptor(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  ByteStream::Outcome Read(size_t room) {
    buffer_.resize(room);
    return stream_->Read(buffer_);
  }
  ByteStream::Outcome Write(std::string bytes) {
    const iovec pieces[] = {{bytes.data(), bytes.size() / 2},
                            {bytes.data() + bytes.size() / 2, bytes.size() - bytes.size() / 2}};
    return stream_->Write(pieces);
  }
  /// Writes until the socket takes nothing more.
  void Fill() {
    while (Write(std::string(64 << 10, 'x')).state == State::kOpen) {
    }
  }
  void DrainPeer() {
    char bytes[64 << 10];
    while (read(peer_.descriptor(), bytes, sizeof(bytes)) > 0) {
    }
  }

  const std::unique_ptr<EventLoop> loop_ = EpollLoop::Make().value();
  Socket peer_;
  std::unique_ptr<ByteStream> stream_;
  std::string buffer_;
};

TEST_F(SocketStreamTest, ReadsUpToTheEnd) {
  EXPECT_EQ(Read(4).state, State::kBlocked);
  Send("abcdef");
  auto got = Read(4);
  EXPECT_EQ(got.size, 4u);
  EXPECT_EQ(got.state, State::kOpen);
  EXPECT_EQ(buffer_, "abcd");
  got = Read(4);
  EXPECT_EQ(got.size, 2u);
  EXPECT_EQ(got.state, State::kBlocked);  // a short read: there is no more
  shutdown(peer_.descriptor(), SHUT_WR);
  EXPECT_EQ(Read(4).state, State::kEnded);
}

TEST_F(SocketStreamTest, TellsOfBytesUntilTheyAreReadAndWhileThatIsWanted) {
  loop_->RunTurn();
  EXPECT_EQ(readable_, 0);
  Send("x");
  loop_->RunTurn();
  loop_->RunTurn();
  EXPECT_EQ(readable_, 2);
  stream_->SetReading(false);
  loop_->RunTurn();
  EXPECT_EQ(readable_, 2);
  stream_->SetReading(true);
  loop_->RunTurn();
  EXPECT_EQ(readable_, 3);
  Read(1);
  loop_->RunTurn();
  EXPECT_EQ(readable_, 3);
}

TEST_F(SocketStreamTest, TellsOnceThatItIsWritable) {
  EXPECT_EQ(Write("hello").size, 5u);
  Fill();
  stream_->AwaitWritable();
  loop_->RunTurn();
  EXPECT_EQ(writable_, 0);
  DrainPeer();
  loop_->RunTurn();
  loop_->RunTurn();
  EXPECT_EQ(writable_, 1);
}

TEST_F(SocketStreamTest, TheOwnerMayAwaitAgainWhenItIsCalled) {
  on_writable_ = [this] {
    if (writable_ < 3) stream_->AwaitWritable();
  };
  stream_->AwaitWritable();
  for (int turn = 0; turn < 5; ++turn) loop_->RunTurn();
  EXPECT_EQ(writable_, 3);
}

TEST_F(SocketStreamTest, APeerThatHasGoneIsToldOnceWhereNothingElseIsWanted) {
  stream_->SetReading(false);
  peer_.Close();
  for (int turn = 0; turn < 3; ++turn) loop_->RunTurn();
  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(readable_, 0);
  EXPECT_EQ(Write("x").state, State::kLost);
}

TEST_F(SocketStreamTest, APeerThatHasGoneIsSeenByReadingAndWritingWhereTheyAreWanted) {
  // A Unix socket resets the connection if its peer leaves bytes unread.
  on_readable_ = [this] { EXPECT_GE(Read(10).state, State::kEnded); };
  on_writable_ = [this] { EXPECT_EQ(Write("x").state, State::kLost); };
  Fill();
  stream_->AwaitWritable();
  peer_.Close();
  loop_->RunTurn();
  EXPECT_EQ(readable_, 1);
  EXPECT_EQ(writable_, 1);
  EXPECT_EQ(lost_, 0);
}

TEST_F(SocketStreamTest, MayBeDestroyedByEachCall) {
  on_readable_ = [this] { stream_.reset(); };
  Send("x");
  loop_->RunTurn();
  loop_->RunTurn();
  EXPECT_EQ(readable_, 1);
  char byte = 0;
  EXPECT_LE(read(peer_.descriptor(), &byte, 1), 0);
}

TEST_F(SocketStreamTest, IsNotReadableAnyMoreWhenOnWritableHasClosedIt) {
  on_writable_ = [this] { stream_->Close(); };
  Send("x");
  stream_->AwaitWritable();
  loop_->RunTurn();
  loop_->RunTurn();
  EXPECT_EQ(writable_, 1);
  EXPECT_EQ(readable_, 0);
  stream_->Close();
}

TEST_F(SocketStreamTest, EndsItsOutputAndReadsOn) {
  stream_->EndOutput();
  char byte = 0;
  EXPECT_EQ(read(peer_.descriptor(), &byte, 1), 0);
  Send("x");
  EXPECT_EQ(Read(2).size, 1u);
}

// The loop is told of the owner's wishes once, however often they change while it is called.
TEST(SocketStream, CostsNoSystemCallsThatChangeNothing) {
  struct Fickle final : ByteStream::Owner {
    void OnReadable() noexcept override {
      stream->SetReading(false);
      stream->SetReading(true);
    }
    void OnWritable() noexcept override {
      if (--left > 0) stream->AwaitWritable();
    }
    void OnLost() noexcept override {}
    std::unique_ptr<ByteStream> stream;
    int left = 3;
  } owner;
  const base::FakeClock clock;
  net::testing::ManualLoop loop(clock);
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  owner.stream = loop.NewStream(Socket(descriptor));
  ASSERT_TRUE(owner.stream->Open(owner));
  EXPECT_EQ(loop.changes(), 1);
  owner.stream->AwaitWritable();
  EXPECT_EQ(loop.changes(), 2);
  loop.SetReady(descriptor, {.readable = true, .writable = true});
  loop.RunTurn();
  loop.RunTurn();
  EXPECT_EQ(loop.changes(), 2);
  loop.RunTurn();
  EXPECT_EQ(loop.changes(), 3);  // nothing is to be written any more
  EXPECT_EQ(loop.InterestIn(descriptor), (Interest{.reading = true}));
  owner.stream->Close();
}

TEST(SocketStream, ALoopThatCannotWatchItIsReported) {
  struct Nobody final : ByteStream::Owner {
    void OnReadable() noexcept override {}
    void OnWritable() noexcept override {}
    void OnLost() noexcept override {}
  } owner;
  const base::FakeClock clock;
  net::testing::ManualLoop loop(clock);
  loop.RefuseToWatch();
  const auto stream = loop.NewStream(Socket(socket(AF_UNIX, SOCK_STREAM, 0)));
  EXPECT_FALSE(stream->Open(owner));
}

/// Sends bytes with descriptors of the null device.
void SendDescriptors(int socket, std::string bytes, int count) {
  std::vector<Socket> opened;
  alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
  iovec piece = {bytes.data(), bytes.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(static_cast<size_t>(count) * sizeof(int));
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(static_cast<size_t>(count) * sizeof(int));
  for (int i = 0; i < count; ++i) {
    opened.emplace_back(open("/dev/null", O_RDWR | O_CLOEXEC));
    const int descriptor = opened.back().descriptor();
    std::memcpy(CMSG_DATA(header) + static_cast<size_t>(i) * sizeof(int), &descriptor, sizeof(int));
  }
  ASSERT_EQ(sendmsg(socket, &message, 0), static_cast<ssize_t>(bytes.size()));
}

int OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

TEST_F(SocketStreamTest, OneDescriptorComesWithItsBytes) {
  stream_->ReceiveDescriptors();
  Send("before");
  SendDescriptors(peer_.descriptor(), "with", 1);
  Send("after");
  EXPECT_EQ(Read(6).size, 6U);
  EXPECT_FALSE(stream_->TakeDescriptor().is_open());
  EXPECT_EQ(Read(100).size, 4U);  // the kernel stops behind them
  const Socket sent = stream_->TakeDescriptor();
  ASSERT_TRUE(sent.is_open());
  EXPECT_NE(fcntl(sent.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_FALSE(stream_->TakeDescriptor().is_open());
  EXPECT_EQ(Read(100).size, 5U);
  EXPECT_FALSE(stream_->TakeDescriptor().is_open());
}

TEST_F(SocketStreamTest, DescriptorsThatNobodyTakesAreClosed) {
  const int before = OpenDescriptors();
  SendDescriptors(peer_.descriptor(), "unwanted", 1);
  EXPECT_EQ(Read(100).size, 8U);
  EXPECT_EQ(OpenDescriptors(), before);
  stream_->ReceiveDescriptors();
  for (int i = 0; i < 20; ++i) {
    SendDescriptors(peer_.descriptor(), "many", 8);
    EXPECT_EQ(Read(100).size, 4U);
  }
  EXPECT_LE(OpenDescriptors(), before + 1);
  stream_.reset();
  EXPECT_EQ(OpenDescriptors(), before - 1);  // and that of the socket
}

}  // namespace
}  // namespace nereid::frontend::net
