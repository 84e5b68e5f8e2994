// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/event_loop.h"

#include <time.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "base/byte_budget.h"
#include "base/clock.h"
#include "frontend/grpc/call.h"
#include "frontend/grpc/connection.h"
#include "frontend/grpc/exception_guard.h"
#include "frontend/grpc/loop_services.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// How long deliveries or deadlines may use the loop before others have their turn; the clock is
// read after each few of them.
constexpr uint64_t kTurnNs = 2'000'000;
constexpr size_t kFewEvents = 16;

}  // namespace

class EventLoop::Body final : public LoopServices, public Connection::Host {
 public:
  Body(ServerContext& context, std::function<void()> on_drained)
      : context_(context),
        on_drained_(std::move(on_drained)),
        io_(1),
        work_(io_.get_executor()),
        listener_(io_, "gRPC", [this](net::Socket socket) { AddConnection(std::move(socket)); }),
        timer_(io_) {
    inbox_ = std::make_shared<LoopInbox>([this] {
      asio::post(io_, [this] {
        woken_ = true;
        TakeDeliveries();
      });
    });
  }

  ~Body() override { inbox_->Close(); }

  base::Result<net::Endpoint> Listen(const net::Endpoint& endpoint) {
    return listener_.Listen(endpoint, /*shared=*/true);
  }

  void Run() {
    SetCurrent(this);
    base::ForbidBlocking();
    listener_.Accept();
    // Handlers guard themselves; what still comes out of one is no reason to serve nobody any more.
    while (!Guarded("an event loop's handler", false, [this] {
      io_.run();
      return true;
    })) {
    }
    SetCurrent(nullptr);
  }

  void Shutdown() {
    asio::post(io_, [this] {
      listener_.Close();
      shutting_down_ = true;
      for (const std::shared_ptr<Connection>& connection : connections_) connection->GoAway();
      EndTurn();
      ReportIfDrained();
    });
  }

  void Stop() {
    asio::post(io_, [this] {
      listener_.Close();
      while (!connections_.empty()) {
        const std::shared_ptr<Connection> connection = connections_.back();
        connection->Close();
      }
      inbox_->Close();
      timer_.cancel();
      io_.stop();
    });
  }

  // ---- LoopServices ----

  uint64_t NowNs() const override { return base::SteadyClock().NowNs(); }

  uint64_t RoughNowNs() const override {
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  }

  void AddDeadline(uint64_t deadline_ns, Timed* timed) override {
    deadlines_.emplace(deadline_ns, timed);
    if (deadline_ns < armed_ns_) Arm(deadline_ns);
  }

  void RemoveDeadline(uint64_t deadline_ns, Timed* timed) override {
    deadlines_.erase({deadline_ns, timed});  // the timer may fire in vain
  }

  // ---- Connection::Host ----

  LoopServices& services() override { return *this; }

  void FlushLater(std::shared_ptr<Connection> connection) override {
    to_flush_.push_back(std::move(connection));
  }

  void EndTurn() override {
    // A flush may end calls, and those may ask for flushes.
    while (!to_flush_.empty()) {
      std::vector<std::shared_ptr<Connection>> turn;
      turn.swap(to_flush_);
      for (const std::shared_ptr<Connection>& connection : turn) {
        const bool flushed = Guarded("a connection", false, [&] {
          connection->Flush();
          return true;
        });
        if (!flushed) connection->Close();
      }
    }
  }

  void Closed(Connection& connection) override {
    const size_t place = connection.place;
    if (place + 1 != connections_.size()) {
      connections_[place] = std::move(connections_.back());
      connections_[place]->place = place;
    }
    connections_.pop_back();
    ReportIfDrained();
  }

 private:
  void AddConnection(net::Socket socket) {
    Guarded("a new connection", false, [&] {
      auto connection = std::make_shared<Connection>(context_, *this, std::move(socket));
      connection->place = connections_.size();
      connections_.push_back(connection);
      connection->Start();
      EndTurn();
      return true;
    });
  }

  // For as long as a turn may last. The inbox wakes once for all that comes until it is taken.
  void TakeDeliveries() {
    if (next_delivery_ == deliveries_.size()) {
      deliveries_.clear();
      next_delivery_ = 0;
      woken_ = false;
      inbox_->Take(&deliveries_);
    }
    const uint64_t begin_ns = NowNs();
    while (next_delivery_ < deliveries_.size()) {
      Take(std::move(deliveries_[next_delivery_++]));
      if (next_delivery_ % kFewEvents == 0 && NowNs() - begin_ns >= kTurnNs) break;
    }
    EndTurn();
    if (woken_ || next_delivery_ < deliveries_.size()) {
      asio::post(io_, [this] { TakeDeliveries(); });
    }
  }

  static void Take(Delivery delivery) {
    const std::shared_ptr<Call> call = std::move(delivery.call);
    const bool taken = Guarded("a call", false, [&] {
      call->Arrive(std::move(delivery));
      return true;
    });
    if (!taken) call->Abandon();
  }

  void ReportIfDrained() {
    if (!shutting_down_ || drained_ || !connections_.empty()) return;
    drained_ = true;
    on_drained_();
  }

  void Arm(uint64_t deadline_ns) {
    armed_ns_ = deadline_ns;
    timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(deadline_ns)));
    timer_.async_wait([this](const error_code& error) {
      if (!error) FireDeadlines();
    });
  }

  void FireDeadlines() {
    armed_ns_ = UINT64_MAX;
    const uint64_t now = NowNs();
    size_t fired = 0;
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      Timed* const timed = deadlines_.begin()->second;
      deadlines_.erase(deadlines_.begin());
      Guarded("a deadline", false, [&] {
        timed->OnDeadline();
        return true;
      });
      if (++fired % kFewEvents == 0 && NowNs() - now >= kTurnNs) break;  // the rest fires next
    }
    if (!deadlines_.empty() && deadlines_.begin()->first < armed_ns_) {
      Arm(deadlines_.begin()->first);
    }
    EndTurn();
  }

  ServerContext& context_;
  const std::function<void()> on_drained_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  net::Listener listener_;
  asio::steady_timer timer_;
  uint64_t armed_ns_ = UINT64_MAX;
  std::set<std::pair<uint64_t, Timed*>> deadlines_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Connection>> to_flush_;
  std::vector<Delivery> deliveries_;
  size_t next_delivery_ = 0;
  bool woken_ = false;
  bool shutting_down_ = false;
  bool drained_ = false;
};

EventLoop::EventLoop(ServerContext& context, std::function<void()> on_drained)
    : body_(std::make_unique<Body>(context, std::move(on_drained))) {}
EventLoop::~EventLoop() = default;
base::Result<net::Endpoint> EventLoop::Listen(const net::Endpoint& endpoint) {
  return body_->Listen(endpoint);
}
void EventLoop::Run() { body_->Run(); }
void EventLoop::Shutdown() { body_->Shutdown(); }
void EventLoop::Stop() { body_->Stop(); }

}  // namespace nereid::frontend::grpc
