// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/loop.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_throttle.h"
#include "base/threads.h"

namespace nereid::frontend::http {
namespace {

namespace asio = boost::asio;

thread_local Loop* current_loop = nullptr;

/// On the loop's thread.
void Run(const LoopServices::Completion& done) {
  if (done.stream != nullptr) return done.connection->OnStream(done.stream);
  done.connection->OnCompleted(done.sink);
}

/// The loop has ended.
void Drop(const LoopServices::Completion& done) {
  if (done.stream != nullptr) return done.stream->Close();
  done.connection->Abandon(done.sink);
}

}  // namespace

Loop::Loop(const HttpServerOptions& options, std::shared_ptr<HttpHandler> handler)
    : LoopServices(options, std::move(handler)),
      work_(asio::make_work_guard(context_)),
      listener_(context_, "HTTP", [this](Socket socket) { Add(std::move(socket)); }) {}

Loop::~Loop() = default;

base::Status Loop::Start(int number) {
  auto thread = base::StartThread(options_.thread_name + "-" + std::to_string(number),
                                  [self = shared_from_this()] { self->Run(); });
  if (!thread.ok()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    return thread.status();
  }
  thread_ = std::move(thread).value();
  return base::Status::Ok();
}

void Loop::Run() {
  current_loop = this;
  base::ForbidBlocking();
  asio::post(context_, [this] { listener_.Accept(); });
  RunUntilStopped();
  current_loop = nullptr;
  std::vector<Completion> late;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ended_ = true;
    late.swap(completed_elsewhere_);
    ended_changed_.notify_all();
  }
  for (const Completion& done : late) http::Drop(done);
}

void Loop::RunUntilStopped() {
  while (true) {
    try {
      context_.run();
      return;
    } catch (const std::exception& failure) {
      // Of the loop's own doing; what is done for a connection ends in Protect.
      ReportFailure(failure.what());
    }
  }
}

void Loop::Add(Socket socket) try {
  auto connection = std::make_shared<Connection>(shared_from_this(), std::move(socket));
  connection->index_in_loop = connections_.size();
  connections_.push_back(connection);
  ScheduleTick();
  Protect(*connection, [&connection] { connection->Start(); });
} catch (const std::exception& failure) {
  ReportFailure(failure.what());
}

void Loop::ScheduleTick() {
  if (ticking_) return;
  timer_.expires_after(timeouts_.tick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    ticking_ = false;
    if (!error) OnTick();
  });
  ticking_ = true;
}

void Loop::OnTick() {
  ++tick_;
  // Backwards: a connection that closes is replaced by the last one, which has been seen.
  for (size_t i = connections_.size(); i-- > 0;) {
    if (i >= connections_.size()) continue;
    const std::shared_ptr<Connection> connection = connections_[i];
    Protect(*connection, [&] { connection->CheckTimeout(tick_); });
  }
  if (!connections_.empty()) ScheduleTick();
}

void Loop::Remove(Connection* connection) {
  const size_t index = connection->index_in_loop;
  if (index >= connections_.size() || connections_[index].get() != connection) return;
  std::swap(connections_[index], connections_.back());
  connections_[index]->index_in_loop = index;
  connections_.pop_back();
  EndIfDrained();
}

void Loop::EndIfDrained() {
  if (!draining_ || !connections_.empty()) return;
  timer_.cancel();
  work_.reset();
}

// Like CloseAll not with a reference of its own: where the loop has just ended, nobody runs this
// any more, and the loop would keep itself.
void Loop::BeginDrain() {
  asio::post(context_, [this] {
    if (std::exchange(draining_, true)) return;
    listener_.Close();
    const auto connections = connections_;
    for (const auto& connection : connections) connection->BeginDrain();
    EndIfDrained();
  });
}

void Loop::CloseAll() {
  asio::post(context_, [this] {
    const auto connections = connections_;
    for (const auto& connection : connections) connection->Close();
  });
}

bool Loop::WaitEnded(std::chrono::steady_clock::time_point until) {
  std::unique_lock<std::mutex> lock(mutex_);
  return ended_changed_.wait_until(lock, until, [this] { return ended_; });
}

void Loop::Join() {
  if (thread_.joinable()) thread_.join();
}

void Loop::Complete(Completion completion) noexcept {
  if (current_loop == this) {
    completed_.push_back(std::move(completion));
    if (dispatch_depth_ == 0) {
      asio::post(context_, [this] { const DispatchScope scope(*this); });
    }
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!ended_) {
      const bool first = completed_elsewhere_.empty();
      completed_elsewhere_.push_back(std::move(completion));
      // One wake-up for all that complete until the loop gets to it. Under the lock, for the loop
      // must not end in between.
      if (first) asio::post(context_, [this] { RunRemoteCompletions(); });
      return;
    }
  }
  http::Drop(completion);
}

void Loop::RunRemoteCompletions() {
  const DispatchScope scope(*this);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (completed_.empty()) {
    completed_.swap(completed_elsewhere_);
  } else {
    std::move(completed_elsewhere_.begin(), completed_elsewhere_.end(),
              std::back_inserter(completed_));
    completed_elsewhere_.clear();
  }
}

void Loop::RunCompletions() {
  // Answers may let the next request of a client in, which may complete at once: until none is
  // left.
  for (size_t i = 0; i < completed_.size(); ++i) {
    ++dispatch_depth_;
    const Completion done = std::move(completed_[i]);
    Protect(*done.connection, [&done] { http::Run(done); });
    --dispatch_depth_;
  }
  completed_.clear();
}

}  // namespace nereid::frontend::http
