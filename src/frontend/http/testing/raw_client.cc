// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/testing/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace nereid::frontend::http::testing {

std::string RawResponse::Field(std::string_view name) const {
  const std::string key = "\r\n" + std::string(name) + ": ";
  const size_t at = head.find(key);
  if (at == std::string::npos) return {};
  const size_t first = at + key.size();
  return head.substr(first, head.find("\r\n", first) - first);
}

RawClient::RawClient(uint16_t port) {
  socket_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    close(socket_);
    socket_ = -1;
  }
}

RawClient::~RawClient() {
  if (socket_ >= 0) close(socket_);
}

void RawClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

void RawClient::FinishSending() { shutdown(socket_, SHUT_WR); }

bool RawClient::Fill() {
  char buffer[65536];
  const ssize_t got = recv(socket_, buffer, sizeof(buffer), 0);
  if (got <= 0) return false;
  received_.append(buffer, static_cast<size_t>(got));
  return true;
}

std::optional<RawResponse> RawClient::Receive(bool is_head) {
  size_t end;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return std::nullopt;
  }
  RawResponse response;
  response.head = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  if (response.head.size() < 12) return std::nullopt;
  response.status = std::atoi(response.head.c_str() + 9);
  if (is_head || response.status == 100) return response;
  const size_t length = std::strtoull(response.Field("Content-Length").c_str(), nullptr, 10);
  while (received_.size() < length) {
    if (!Fill()) return std::nullopt;
  }
  response.body = received_.substr(0, length);
  received_.erase(0, length);
  return response;
}

RawResponse RawClient::ReceiveHead() { return Receive(/*is_head=*/true).value_or(RawResponse{}); }

std::string RawClient::ReceiveChunk() {
  size_t line;
  while ((line = received_.find("\r\n")) == std::string::npos) {
    if (!Fill()) return {};
  }
  const size_t size = std::strtoull(received_.c_str(), nullptr, 16);
  received_.erase(0, line + 2);
  while (received_.size() < size + 2) {
    if (!Fill()) return {};
  }
  std::string chunk = received_.substr(0, size);
  received_.erase(0, size + 2);
  return chunk;
}

RawResponse RawClient::ReceiveChunked() {
  RawResponse response = ReceiveHead();
  if (response.Field("Transfer-Encoding") == "chunked") {
    for (std::string chunk; !(chunk = ReceiveChunk()).empty();) response.body += chunk;
    return response;
  }
  const size_t length = std::strtoull(response.Field("Content-Length").c_str(), nullptr, 10);
  while (received_.size() < length && Fill()) {
  }
  response.body = received_.substr(0, length);
  received_.erase(0, length);
  return response;
}

std::string RawClient::ReceiveRest() {
  while (Fill()) {
  }
  return std::exchange(received_, {});
}

bool RawClient::AtEnd() { return received_.empty() && !Fill(); }

bool RawClient::IsEnded() const {
  pollfd state{socket_, POLLRDHUP, 0};
  return poll(&state, 1, 0) > 0;
}

void RawClient::Abort() {
  const linger now{1, 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close(socket_);
  socket_ = -1;
}

std::string Post(std::string_view path, std::string_view body, std::string_view fields) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(fields) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string Get(std::string_view path, std::string_view fields) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

}  // namespace nereid::frontend::http::testing
