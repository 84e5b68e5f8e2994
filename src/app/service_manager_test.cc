// SPDX-License-Identifier: Apache-2.0
#include "app/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/temporary_directory.h"

namespace nereid::app {
namespace {

/// The manager's side: a socket that is bound to `name`, a path or "@" and an abstract name.
class Manager {
 public:
  explicit Manager(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, name.size());
    const bool is_abstract = name.front() == '@';
    if (is_abstract) address.sun_path[0] = '\0';
    const size_t length = offsetof(sockaddr_un, sun_path) + name.size() + (is_abstract ? 0 : 1);
    EXPECT_EQ(0, ::bind(socket_, reinterpret_cast<sockaddr*>(&address), socklen_t(length)));
    environment["NOTIFY_SOCKET"] = name;
  }
  ~Manager() { ::close(socket_); }

  /// Returns the next message that has been sent, or "".
  std::string Next() const {
    char text[512];
    const ssize_t size = ::recv(socket_, text, sizeof(text), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text, size_t(size));
  }
  /// Waits for the next message.
  std::string Wait() const {
    char text[512];
    const ssize_t size = ::recv(socket_, text, sizeof(text), 0);
    return size < 0 ? "" : std::string(text, size_t(size));
  }
  ServiceManager::Environment Environment() const {
    return [this](const char* name) {
      const auto found = environment.find(name);
      return found == environment.end() ? nullptr : found->second.c_str();
    };
  }

  std::map<std::string, std::string> environment;

 private:
  int socket_;
};

class ServiceManagerTest : public ::testing::Test {
 protected:
  const std::unique_ptr<base::TemporaryDirectory> folder_ =
      std::move(base::TemporaryDirectory::Create()).value();
  Manager manager_{folder_->path() + "/notify"};
};

TEST_F(ServiceManagerTest, SendsTheStates) {
  ServiceManager service(manager_.Environment(), 1);
  EXPECT_EQ(service.watchdog_us(), 0u);
  service.SendReady("Serving");
  EXPECT_EQ(manager_.Next(), "READY=1\nSTATUS=Serving");
  service.SendStopping("Ending");
  EXPECT_EQ(manager_.Next(), "STOPPING=1\nSTATUS=Ending");
  service.SendReady("Serving");
  EXPECT_EQ(manager_.Next(), "");
}

TEST_F(ServiceManagerTest, AnnouncesReloadsOfAReadyServiceOnly) {
  ServiceManager service(manager_.Environment(), 1);
  int reloads = 0;
  service.Reload(5, [&] { ++reloads; });
  EXPECT_EQ(manager_.Next(), "");
  service.SendReady("Serving");
  manager_.Next();
  service.Reload(7, [&] {
    ++reloads;
    EXPECT_EQ(manager_.Next(), "RELOADING=1\nMONOTONIC_USEC=7");
    EXPECT_EQ(manager_.Next(), "");
  });
  EXPECT_EQ(manager_.Next(), "READY=1\nSTATUS=Serving");
  service.SendReady("Serving");
  service.SendStopping("Ending");
  manager_.Next();
  manager_.Next();
  service.Reload(9, [&] { ++reloads; });
  EXPECT_EQ(manager_.Next(), "");
  EXPECT_EQ(reloads, 3);
}

TEST_F(ServiceManagerTest, DoesNothingWithoutAManager) {
  ServiceManager service([](const char*) { return nullptr; }, 1);
  service.SendReady("Serving");
  int reloads = 0;
  service.Reload(1, [&] { ++reloads; });
  service.SendAlive();
  EXPECT_EQ(reloads, 1);
  EXPECT_EQ(manager_.Next(), "");
}

TEST_F(ServiceManagerTest, SurvivesAManagerThatCannotBeReached) {
  for (const std::string& name : {std::string("/absent/notify"), std::string(200, 'x')}) {
    manager_.environment = {{"NOTIFY_SOCKET", name}, {"WATCHDOG_USEC", "1000"}};
    ServiceManager service(manager_.Environment(), 1);
    service.SendReady("Serving");
    EXPECT_EQ(service.watchdog_us(), 0u);
  }
}

TEST(AbstractSockets, AreNamedWithAnAtSign) {
  const Manager manager("@nereid-service-manager-test-" + std::to_string(::getpid()));
  ServiceManager service(manager.Environment(), 1);
  service.SendAlive();
  EXPECT_EQ(manager.Next(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, ReadsTheTimeOfTheWatchdog) {
  auto& environment = manager_.environment;
  environment["WATCHDOG_USEC"] = "30000000";
  EXPECT_EQ(ServiceManager(manager_.Environment(), 5).watchdog_us(), 30'000'000u);
  environment["WATCHDOG_PID"] = "5";
  EXPECT_EQ(ServiceManager(manager_.Environment(), 5).watchdog_us(), 30'000'000u);
  EXPECT_EQ(ServiceManager(manager_.Environment(), 6).watchdog_us(), 0u);
  environment.erase("WATCHDOG_PID");
  for (const char* wrong : {"", "x", "-1", "5s", "99999999999999999999999"}) {
    environment["WATCHDOG_USEC"] = wrong;
    EXPECT_EQ(ServiceManager(manager_.Environment(), 5).watchdog_us(), 0u) << wrong;
  }
}

TEST_F(ServiceManagerTest, OnlyAHealthyServiceGivesSignsOfLife) {
  manager_.environment["WATCHDOG_USEC"] = "30000000";
  ServiceManager service(manager_.Environment(), 1);
  bool healthy = true;
  ServiceWatchdog watchdog(service, [&] { return healthy; });
  watchdog.Check();
  EXPECT_EQ(manager_.Next(), "WATCHDOG=1");
  healthy = false;
  watchdog.Check();
  EXPECT_EQ(manager_.Next(), "");
  healthy = true;
  watchdog.Check();
  EXPECT_EQ(manager_.Next(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, TheThreadGivesSignsOfLifeAtOnceAndAgain) {
  manager_.environment["WATCHDOG_USEC"] = "3000";
  ServiceManager service(manager_.Environment(), 1);
  ServiceWatchdog watchdog(service, [] { return true; });
  ASSERT_TRUE(watchdog.Start().ok());
  EXPECT_EQ(manager_.Wait(), "WATCHDOG=1");
  EXPECT_EQ(manager_.Wait(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, ThereIsNoThreadForAManagerWithoutAWatchdog) {
  ServiceManager service(manager_.Environment(), 1);
  ServiceWatchdog watchdog(service, [] { return true; });
  ASSERT_TRUE(watchdog.Start().ok());
  EXPECT_EQ(manager_.Next(), "");
}

}  // namespace
}  // namespace nereid::app
