// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1: one request in flight. Only the status and the lengths of the answer are read.
#include <strings.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "load/connection.h"

namespace nereid::load {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr size_t kMaxErrorBytes = 64 << 10;  // of an error's body that are kept

/// Returns the number in header `name` of `head`, or -1 if there is none.
int64_t HeaderNumber(std::string_view head, std::string_view name) {
  size_t line = head.find("\r\n");
  while (line != head.npos && line + 2 + name.size() < head.size()) {
    const char* start = head.data() + line + 2;
    if (strncasecmp(start, name.data(), name.size()) == 0 && start[name.size()] == ':') {
      const char* digits = start + name.size() + 1;
      while (*digits == ' ') ++digits;
      int64_t value = -1;
      std::from_chars(digits, head.data() + head.size(), value);
      return value;
    }
    line = head.find("\r\n", line + 2);
  }
  return -1;
}

class HttpConnection final : public Connection {
 public:
  HttpConnection(Run& run, std::unique_ptr<Link> link)
      : Connection(run, std::move(link)), caller_(run) {}

  bool IsIdle() const override { return !waiting_; }

  void Start(uint64_t due_ns) override {
    ++run_.under_way;
    waiting_ = true;
    caller_.Advance();
    sent_ = 0;
    head_size_ = 0;
    body_left_ = -1;
    sent_ns_ = due_ns != 0 ? due_ns : NowNs();
    Send();
  }

  bool OnEvent(uint32_t epoll_events) override {
    if ((epoll_events & EPOLLOUT) && waiting_ && sent_ < caller_.request().size()) Send();
    if (broken_ || ((epoll_events & ~static_cast<uint32_t>(EPOLLOUT)) && !Receive())) {
      if (waiting_) run_.Failed(std::string("connection lost: ") + reason_);
      return false;
    }
    return true;
  }

 private:
  void Send() {
    while (sent_ < caller_.request().size()) {
      const ssize_t n =
          link_->Send(caller_.request().data() + sent_, caller_.request().size() - sent_);
      if (n < 0) {
        if (errno == EAGAIN) return;
        reason_ = std::strerror(errno);
        broken_ = true;
        return;
      }
      sent_ += static_cast<size_t>(n);
    }
  }

  /// Reads the available bytes. Returns false when the connection is over.
  bool Receive() {
    while (true) {
      ssize_t n;
      size_t wanted;
      if (body_left_ < 0) {
        wanted = sizeof(head_) - head_size_;
        n = link_->Receive(head_ + head_size_, wanted);
      } else {
        wanted = std::min(kChunk, static_cast<size_t>(body_left_));
        n = ReceiveBody(&wanted);
      }
      if (n < 0 && errno == EAGAIN) return true;
      if (n <= 0) {
        reason_ = n == 0 ? "closed by the server" : std::strerror(errno);
        return false;
      }
      if (!waiting_) {
        reason_ = "an answer without a request";
        return false;
      }
      if (body_left_ < 0) {
        head_size_ += static_cast<size_t>(n);
        if (!ParseHead()) return false;
      } else {
        body_left_ -= n;
      }
      if (body_left_ == 0 && !Finish()) return false;
      // A short read has emptied the socket, so the next byte causes a new event.
      if (static_cast<size_t>(n) < wanted) return true;
    }
  }

  /// Receives up to `*wanted` bytes, or fewer, which then are `*wanted`.
  ssize_t ReceiveBody(size_t* wanted) {
    if (!keep_ || (!good_ && body_.size() >= kMaxErrorBytes)) return link_->Discard(*wanted);
    if (!good_) *wanted = std::min(*wanted, kMaxErrorBytes);
    const size_t old = body_.size();
    body_.resize(old + *wanted);
    const ssize_t n = link_->Receive(body_.data() + old, *wanted);
    body_.resize(old + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    return n;
  }

  bool ParseHead() {
    const std::string_view all(head_, head_size_);
    const size_t end = all.find("\r\n\r\n");
    if (end == all.npos) {
      reason_ = "the head of the answer is too long";
      return head_size_ < sizeof(head_);
    }
    const std::string_view head = all.substr(0, end + 2);
    const std::string_view rest = all.substr(end + 4);
    const int64_t length = HeaderNumber(head, "Content-Length");
    if (length < static_cast<int64_t>(rest.size())) {
      reason_ = "no Content-Length, or more bytes than it says";
      return false;
    }
    good_ = head.size() > 12 && head.substr(9, 3) == "200";
    keep_ = run_.keeps_output() || !good_;
    if (keep_) {
      json_size_ = HeaderNumber(head, "Inference-Header-Content-Length");
      status_ = head.substr(0, head.find("\r\n"));
      body_ = rest;
    }
    body_left_ = length - static_cast<int64_t>(rest.size());
    return true;
  }

  /// Called when the answer is complete. Returns false if the connection cannot be used again.
  bool Finish() {
    if (sent_ < caller_.request().size()) {
      reason_ = "answered before the request was complete: " + status_;
      return false;
    }
    waiting_ = false;
    if (good_ && keep_) good_ = run_.KeepOutput(body_, json_size_);
    if (good_) {
      run_.Answered(sent_ns_, NowNs());
    } else {
      run_.Failed(status_ + " " + body_.substr(0, 300));
    }
    if (run_.sending) Start(0);
    return !broken_;
  }

  Caller caller_;
  bool waiting_ = false;
  bool broken_ = false;
  std::string reason_;
  size_t sent_ = 0;
  uint64_t sent_ns_ = 0;

  char head_[16384];  // the head and, of a small answer, the body behind it
  size_t head_size_ = 0;
  int64_t body_left_ = -1;  // -1: the head is not complete
  bool good_ = false;
  bool keep_ = false;  // whether the body is read into body_
  int64_t json_size_ = -1;
  std::string status_;
  std::string body_;
};

}  // namespace

std::unique_ptr<Connection> MakeHttpConnection(Run& run, std::unique_ptr<Link> link) {
  return std::make_unique<HttpConnection>(run, std::move(link));
}

}  // namespace nereid::load
