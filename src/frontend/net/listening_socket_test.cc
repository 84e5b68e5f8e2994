// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/listening_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "base/temporary_directory.h"

namespace nereid::frontend::net {
namespace {

class UnixSocketTest : public ::testing::Test {
 protected:
  UnixSocketTest() {
    auto directory = base::TemporaryDirectory::Create();
    EXPECT_TRUE(directory.ok());
    directory_ = std::move(directory).value();
    path_ = directory_->path() + "/s";
    endpoint_ = ResolveEndpoint("test", "unix:" + path_, 0).value();
  }
  /// Returns 0 if a client can connect, or its errno.
  int Connect() const {
    const Socket client(socket(AF_UNIX, SOCK_STREAM, 0));
    return connect(client.descriptor(), endpoint_.data(), endpoint_.size()) == 0 ? 0 : errno;
  }
  /// Binds a socket as a server does that is killed later.
  void LeaveStaleFile() const {
    const Socket killed(socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(bind(killed.descriptor(), endpoint_.data(), endpoint_.size()), 0);
  }
  std::string InUse() const { return "Socket '" + endpoint_.text() + "' already in use "; }

  std::unique_ptr<base::TemporaryDirectory> directory_;
  std::string path_;
  Endpoint endpoint_;
};

TEST_F(UnixSocketTest, HasAFileAsLongAsItListens) {
  {
    const auto listening = ListenOn(endpoint_, {});
    ASSERT_TRUE(listening.ok()) << listening.status().message();
    EXPECT_EQ(listening->endpoint, endpoint_);
    EXPECT_EQ(Connect(), 0);
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, HasTheModeThatIsAskedForWhateverTheUmaskIs) {
  for (const mode_t mask : {0, 077, 0777}) {
    const mode_t before = umask(mask);
    for (const mode_t mode : {0600, 0660, 0666}) {
      const auto listening = ListenOn(endpoint_, {.unix_socket_mode = mode});
      ASSERT_TRUE(listening.ok()) << listening.status().message();
      struct stat file = {};
      ASSERT_EQ(stat(path_.c_str(), &file), 0);
      EXPECT_EQ(file.st_mode & 07777, mode);
    }
    umask(before);
  }
}

TEST_F(UnixSocketTest, IsRefusedWhileAnotherOneListens) {
  const auto first = ListenOn(endpoint_, {});
  ASSERT_TRUE(first.ok());
  const auto second = ListenOn(endpoint_, {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(second.status().message(), InUse());
  EXPECT_EQ(Connect(), 0);
}

TEST_F(UnixSocketTest, IsRefusedWhileTheQueueOfAnotherOneIsFull) {
  const Socket busy(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(bind(busy.descriptor(), endpoint_.data(), endpoint_.size()), 0);
  ASSERT_EQ(listen(busy.descriptor(), 0), 0);
  const Socket waiting(socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(connect(waiting.descriptor(), endpoint_.data(), endpoint_.size()), 0);
  EXPECT_EQ(ListenOn(endpoint_, {}).status().message(), InUse());
}

TEST_F(UnixSocketTest, ReplacesTheFileOfAServerThatWasKilled) {
  LeaveStaleFile();
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_EQ(Connect(), ECONNREFUSED);
  const auto listening = ListenOn(endpoint_, {});
  ASSERT_TRUE(listening.ok()) << listening.status().message();
  EXPECT_EQ(Connect(), 0);
}

TEST_F(UnixSocketTest, NeverReplacesWhatIsNoSocket) {
  std::ofstream(path_) << "precious";
  const auto refused = ListenOn(endpoint_, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.status().message(),
            "cannot listen on socket '" + endpoint_.text() +
                "': the file exists and is not a socket; remove it or choose another path");
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

TEST_F(UnixSocketTest, NeverFollowsALink) {
  std::filesystem::create_symlink(directory_->path() + "/elsewhere", path_);
  EXPECT_EQ(ListenOn(endpoint_, {}).status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_FALSE(std::filesystem::exists(directory_->path() + "/elsewhere"));
}

TEST_F(UnixSocketTest, LeavesTheFileThatHasTakenItsPlace) {
  auto first = ListenOn(endpoint_, {});
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(unlink(path_.c_str()), 0);
  const auto second = ListenOn(endpoint_, {});
  ASSERT_TRUE(second.ok()) << second.status().message();
  first->file.Remove();
  EXPECT_EQ(Connect(), 0);
}

TEST_F(UnixSocketTest, AForeignLockOnTheDirectoryOnlyDelays) {
  const Socket directory(open(directory_->path().c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_EQ(flock(directory.descriptor(), LOCK_EX), 0);
  const auto listening = ListenOn(endpoint_, {});
  EXPECT_TRUE(listening.ok()) << listening.status().message();
}

TEST_F(UnixSocketTest, FailuresNameTheSocket) {
  const std::string path = directory_->path() + "/none/s";
  const auto refused = ListenOn(ResolveEndpoint("test", "unix:" + path, 0).value(), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            "cannot listen on socket 'unix:" + path + "': No such file or directory");
}

int OptionOf(const Socket& socket, int level, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  EXPECT_EQ(getsockopt(socket.descriptor(), level, option, &value, &size), 0);
  return value;
}

TEST(TcpSocketTest, AcceptedSocketsHaveTheOptionsOfTheListeningOne) {
  for (const bool shared : {false, true}) {
    const auto listening =
        ListenOn(ResolveEndpoint("test", "127.0.0.1", 0).value(), {.shared = shared});
    ASSERT_TRUE(listening.ok()) << listening.status().message();
    const Endpoint& endpoint = listening->endpoint;
    const Socket client(socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(client.descriptor(), endpoint.data(), endpoint.size()), 0);
    pollfd arrival = {.fd = listening->socket.descriptor(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&arrival, 1, -1), 1);
    const Socket accepted(accept(listening->socket.descriptor(), nullptr, nullptr));
    ASSERT_TRUE(accepted.is_open());
    EXPECT_NE(OptionOf(accepted, IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_NE(OptionOf(accepted, SOL_SOCKET, SO_KEEPALIVE), 0);
  }
}

TEST(AbstractSocketTest, HasNoFile) {
  const std::string name = "nereid-test-" + std::to_string(getpid());
  const Endpoint endpoint = ResolveEndpoint("test", "unix-abstract:" + name, 0).value();
  {
    const auto listening = ListenOn(endpoint, {});
    ASSERT_TRUE(listening.ok()) << listening.status().message();
    EXPECT_EQ(listening->endpoint, endpoint);
    EXPECT_EQ(ListenOn(endpoint, {}).status().message(),
              "Socket 'unix-abstract:" + name + "' already in use ");
  }
  EXPECT_TRUE(ListenOn(endpoint, {}).ok());
}

}  // namespace
}  // namespace nereid::frontend::net
