// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace nereid::curl::testing {

/// An HTTP server on the loopback interface that answers each request with the next of its texts,
/// byte for byte, whatever the request is. Serves one connection at a time. Behind a text with
/// "Connection: close" it closes the connection; otherwise the client does. A text may be empty.
class TextServer {
 public:
  template <typename... Texts>
  explicit TextServer(Texts... answers) : answers_{std::string(std::move(answers))...} {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address_), size), 0);
    EXPECT_EQ(::listen(listener_, 4), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size), 0);
    thread_ = std::thread([this] { Serve(); });
  }
  ~TextServer() {
    Join();
    ::close(listener_);
  }

  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + path;
  }
  /// Closes the connection and ends the server. Returns all requests.
  const std::vector<std::string>& Join() {
    {
      base::MutexLock lock(mutex_);
      stopping_ = true;
      ::shutdown(listener_, SHUT_RDWR);  // ends accept()
      if (peer_ >= 0) ::shutdown(peer_, SHUT_RDWR);
    }
    if (thread_.joinable()) thread_.join();
    return requests_;
  }
  /// The number of connections that were made. May be called after Join().
  int connections() const { return connections_; }

  std::counting_semaphore<> received{0};  // released for each complete request

 private:
  void Serve() {
    int peer;
    while ((peer = ::accept(listener_, nullptr, nullptr)) >= 0 && Keep(peer)) {
      ++connections_;
      while (Answer(peer)) {
      }
      Keep(-1);
      ::close(peer);
    }
  }

  /// Sets the descriptor that Join() shuts down. Returns false if Join() was called before.
  bool Keep(int peer) {
    base::MutexLock lock(mutex_);
    peer_ = peer;
    if (stopping_ && peer >= 0) ::close(peer);
    return !stopping_;
  }

  /// Reads a request and sends the answer. Returns false at the end of the connection.
  bool Answer(int peer) {
    std::string request;
    char bytes[4096];
    while (!IsComplete(request)) {
      const ssize_t count = ::recv(peer, bytes, sizeof(bytes), 0);
      if (count <= 0) return false;
      request.append(bytes, static_cast<size_t>(count));
    }
    const std::string answer =
        requests_.size() < answers_.size() ? answers_[requests_.size()] : std::string();
    requests_.push_back(std::move(request));
    received.release();
    (void)!::send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
    return answer.find("Connection: close") == answer.npos;
  }

  static bool IsComplete(const std::string& request) {
    const size_t head = request.find("\r\n\r\n");
    if (head == request.npos) return false;
    const size_t length = request.find("Content-Length: ");
    const size_t body =
        length < head ? static_cast<size_t>(std::atoi(request.c_str() + length + 16)) : 0;
    return request.size() >= head + 4 + body;
  }

  const std::vector<std::string> answers_;
  int listener_;
  sockaddr_in address_{};
  std::vector<std::string> requests_;
  int connections_ = 0;
  base::Mutex mutex_;
  bool stopping_ NEREID_GUARDED_BY(mutex_) = false;
  int peer_ NEREID_GUARDED_BY(mutex_) = -1;
  std::thread thread_;
};

}  // namespace nereid::curl::testing
