// SPDX-License-Identifier: Apache-2.0
#include "load/load_loop.h"

#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nereid::load {
namespace {

constexpr uint64_t kMaxWaitNs = 50'000'000;
constexpr uint64_t kMaxErrors = 100;  // more than answers
constexpr size_t kMaxLate = 1'000'000;
constexpr int kMaxEvents = 64;

/// Waits for events. Kernels before 5.11, and some containers, lack the call with nanoseconds;
/// there the last millisecond before a request of a rate is due is spent without sleeping.
int WaitForEvents(int epoll, epoll_event* events, uint64_t wait_ns) {
  const timespec wait = {0, static_cast<long>(wait_ns)};
  const int count = epoll_pwait2(epoll, events, kMaxEvents, &wait, nullptr);
  if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return count;
  return epoll_wait(epoll, events, kMaxEvents, static_cast<int>(wait_ns / 1'000'000));
}

}  // namespace

LoadLoop::LoadLoop(Run& run, size_t connections)
    : run_(run), epoll_(epoll_create1(EPOLL_CLOEXEC)), connections_(connections) {}

LoadLoop::~LoadLoop() {
  if (epoll_ >= 0) close(epoll_);
}

bool LoadLoop::Fail(std::string why) {
  if (error_.empty()) error_ = std::move(why);
  return false;
}

bool LoadLoop::Connect() {
  if (epoll_ < 0) return Fail(std::strerror(errno));
  for (size_t i = 0; i < connections_.size(); ++i) {
    if (!Open(i)) return false;
  }
  return true;
}

bool LoadLoop::Open(size_t index) {
  std::string reason;
  std::unique_ptr<Link> link = load::Connect(run_.target, &reason);
  if (link == nullptr) {
    const std::string where =
        run_.target.unix_socket.empty() ? run_.target.Authority() : run_.target.unix_socket;
    return Fail("cannot connect to " + where + ": " + reason);
  }
  const int fd = link->fd();
  connections_[index] = MakeConnection(run_, std::move(link));
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = index;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0) return true;
  return Fail(std::string("epoll: ") + std::strerror(errno));
}

void LoadLoop::StartClosed() {
  run_.sending = true;
  for (auto& connection : connections_) connection->Start();
}

void LoadLoop::StartScheduled(std::function<uint64_t()> next_due_ns) {
  next_due_ns_ = std::move(next_due_ns);
  due_ns_ = next_due_ns_();
  idle_.clear();
  for (size_t i = 0; i < connections_.size(); ++i) idle_.push_back(i);
}

void LoadLoop::SendDue(uint64_t now_ns) {
  if (!next_due_ns_) return;
  for (; due_ns_ <= now_ns && late_.size() < kMaxLate; due_ns_ = next_due_ns_()) {
    late_.push_back(due_ns_);
  }
  while (!late_.empty() && !idle_.empty()) {
    const size_t index = idle_.back();
    idle_.pop_back();
    connections_[index]->Start(late_.front());
    late_.pop_front();
  }
  most_late_ = std::max(most_late_, late_.size());
}

size_t LoadLoop::TakeMostLate() { return std::exchange(most_late_, late_.size()); }

bool LoadLoop::Poll(uint64_t end_ns) {
  const uint64_t now_ns = NowNs();
  uint64_t until_ns = std::min(end_ns, now_ns + kMaxWaitNs);
  if (next_due_ns_ && !idle_.empty()) until_ns = std::min(until_ns, due_ns_);
  const uint64_t wait_ns = until_ns - std::min(until_ns, now_ns);
  epoll_event events[kMaxEvents];
  const int count = WaitForEvents(epoll_, events, wait_ns);
  for (int i = 0; i < count; ++i) {
    const size_t index = events[i].data.u64;
    const bool was_idle = connections_[index]->IsIdle();
    if (!connections_[index]->OnEvent(events[i].events)) {
      if (!Open(index)) {
        error_ = "the connection was lost (" + run_.first_error + ") and then: " + error_;
        return false;
      }
      if (run_.sending) connections_[index]->Start();
    }
    if (next_due_ns_ && !was_idle && connections_[index]->IsIdle()) idle_.push_back(index);
  }
  if (is_stopped_ && is_stopped_()) return Fail("stopped");
  if (run_.errors <= kMaxErrors || run_.errors <= run_.answers) return true;
  return Fail("most requests fail: " + run_.first_error);
}

bool LoadLoop::RunUntil(uint64_t end_ns) {
  for (uint64_t now_ns = NowNs(); now_ns < end_ns; now_ns = NowNs()) {
    SendDue(now_ns);
    if (!Poll(end_ns)) return false;
  }
  return true;
}

bool LoadLoop::Drain(uint64_t patience_ns) {
  run_.sending = false;
  next_due_ns_ = nullptr;
  late_.clear();
  const uint64_t end_ns = NowNs() + patience_ns;
  while (run_.under_way > 0) {
    if (NowNs() >= end_ns) {
      return Fail(std::to_string(run_.under_way) + " requests were not answered within " +
                  std::to_string(patience_ns / 1'000'000'000) + " s");
    }
    if (!Poll(end_ns)) return false;
  }
  return true;
}

}  // namespace nereid::load
