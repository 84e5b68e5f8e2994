// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace nereid::caches {

/// A Redis server in the test program, on a port that the system chooses. It supports hashes, and
/// AUTH with the password "secret" if required, and can misbehave on request. tests/conformance
/// uses the real Redis.
class FakeRedis {
 public:
  enum class Mood { kWell, kGarbage, kCloses, kHangs, kWrongFields };

  /// Starts on a new port, or on the port of the previous start.
  void Start() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) std::abort();
    socklen_t size = sizeof(address);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    listen(listener_, 16);
    acceptor_ = std::thread([this] { Accept(); });
  }
  /// Closes all sockets, as if the process had been killed.
  void Stop() {
    if (!acceptor_.joinable()) return;
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    close(listener_);
    {
      base::MutexLock lock(mutex_);
      for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (const int socket : sockets_) close(socket);
    sockets_.clear();
  }
  ~FakeRedis() { Stop(); }

  uint16_t port() const { return port_; }
  std::string Config(const std::string& more = "") const {
    return R"({"host":"127.0.0.1","port":")" + std::to_string(port_) + "\"" + more + "}";
  }
  std::map<std::string, std::map<std::string, std::string>> hashes() {
    base::MutexLock lock(mutex_);
    return hashes_;
  }

  std::atomic<Mood> mood{Mood::kWell};
  std::atomic<bool> wants_password{false};
  std::atomic<int> connections{0};

 private:
  void Accept() {
    for (;;) {
      const int accepted = accept(listener_, nullptr, nullptr);
      if (accepted < 0) return;
      ++connections;
      base::MutexLock lock(mutex_);
      sockets_.push_back(accepted);
      threads_.emplace_back([this, accepted] { Serve(accepted); });
    }
  }

  void Serve(int socket) {
    redisReader* const reader = redisReaderCreate();
    bool open = true, known = !wants_password;
    char bytes[4096];
    ssize_t size = 0;
    while (open && (size = recv(socket, bytes, sizeof(bytes), 0)) > 0) {
      redisReaderFeed(reader, bytes, static_cast<size_t>(size));
      void* parsed = nullptr;
      while (open && redisReaderGetReply(reader, &parsed) == REDIS_OK && parsed != nullptr) {
        auto* command = static_cast<redisReply*>(parsed);
        std::vector<std::string> words;
        for (size_t i = 0; i < command->elements; ++i) {
          words.emplace_back(command->element[i]->str, command->element[i]->len);
        }
        freeReplyObject(command);
        open = Answer(socket, words, known);
      }
    }
    redisReaderFree(reader);
    shutdown(socket, SHUT_RDWR);
  }

  bool Answer(int socket, const std::vector<std::string>& words, bool& known) {
    if (mood == Mood::kHangs) return true;
    if (mood == Mood::kCloses) return false;
    const std::string reply = mood == Mood::kGarbage ? "?what\r\n" : Reply(words, known);
    return send(socket, reply.data(), reply.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(reply.size());
  }

  std::string Reply(const std::vector<std::string>& words, bool& known) {
    if (words[0] == "AUTH") {
      known = words.back() == "secret";
      return known ? "+OK\r\n" : "-WRONGPASS invalid username-password pair\r\n";
    }
    if (!known) return "-NOAUTH Authentication required.\r\n";
    if (words[0] == "PING") return "+PONG\r\n";
    base::MutexLock lock(mutex_);
    auto& hash = hashes_[words[1]];
    if (words[0] == "HMSET") {
      for (size_t i = 2; i + 1 < words.size(); i += 2) hash[words[i]] = words[i + 1];
      return "+OK\r\n";
    }
    std::string reply;
    for (const auto& [name, value] : hash) {
      const std::string shown = mood == Mood::kWrongFields && name == "0:s" ? "7" : value;
      reply += Bulk(name) + Bulk(shown);
    }
    return "*" + std::to_string(2 * hash.size()) + "\r\n" + reply;
  }

  static std::string Bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }

  uint16_t port_ = 0;
  int listener_ = -1;
  std::thread acceptor_;
  base::Mutex mutex_;
  std::vector<int> sockets_ NEREID_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ NEREID_GUARDED_BY(mutex_);
  std::map<std::string, std::map<std::string, std::string>> hashes_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::caches
