// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/server_loop.h"

#include <chrono>
#include <exception>
#include <utility>

#include "frontend/net/failure_log.h"
#include "frontend/net/tls_stream.h"

namespace nereid::frontend::net {
namespace {

/// How long a client that has connected may take to send its first request after the server began
/// to stop: long enough for a load balancer that connects for each request, too short to notice.
constexpr std::chrono::nanoseconds kDrainGrace = std::chrono::milliseconds{100};

void LogFailedConnection(const std::string& service, const char* reason) noexcept {
  static base::LogThrottle throttle;
  LogFailure(throttle, base::LogLevel::kError,
             {service, ": a connection could not be served and was closed: ", reason});
}

}  // namespace

ServerLoop::ServerLoop(std::unique_ptr<EventLoop> loop, std::string service, ConnectionLimit* limit)
    : loop_(std::move(loop)),
      service_(std::move(service)),
      listener_(
          *loop_, service_, [this](Arrival arrival) { OnArrival(std::move(arrival)); }, limit) {}

// The tasks of a loop that has never run are members of this object.
ServerLoop::~ServerLoop() { loop_->inbox()->Close(); }

void ServerLoop::Run() {
  listener_.Accept();
  loop_->Run();
  protocol_->OnLoopEnded();
}

/// A client on its way from the loop that has accepted it to the one that serves it. If that one
/// has ended, the client is disconnected.
class ServerLoop::Handover final : public Task {
 public:
  Handover(ServerLoop& loop, Arrival arrival) : loop_(loop), arrival_(std::move(arrival)) {}

 private:
  void Run() noexcept override { loop_.Add(std::move(arrival_)); }

  ServerLoop& loop_;
  Arrival arrival_;
};

void ServerLoop::OnArrival(Arrival arrival) noexcept {
  if (accepts_for_.empty()) return Add(std::move(arrival));
  ServerLoop& next = *accepts_for_[next_++ % accepts_for_.size()];
  if (&next == this) return Add(std::move(arrival));
  try {
    const auto handover = std::make_shared<Handover>(next, std::move(arrival));
    next.loop_->Post(*handover, handover);
  } catch (const std::exception& failure) {
    LogFailedConnection(service_, failure.what());
  }
}

void ServerLoop::Add(Arrival arrival) noexcept {
  std::shared_ptr<Connection> connection;
  try {
    connection = protocol_->Connect(NewStream(std::move(arrival.socket)));
    connections_.Add(connection, std::move(arrival.place));
  } catch (const std::exception& failure) {
    return LogFailedConnection(service_, failure.what());
  }
  Protect(*connection, [&] {
    connection->Start();
    if (draining_) connection->BeginDrain();  // the client was on its way when the server stopped
  });
}

std::unique_ptr<ByteStream> ServerLoop::NewStream(Socket socket) {
  std::unique_ptr<ByteStream> stream = loop_->NewStream(std::move(socket));
  if (tls_ == nullptr) return stream;
  return std::make_unique<TlsStream>(*tls_, std::move(stream));
}

/// If memory runs out, only the connection that needs it ends.
template <typename Step>
void ServerLoop::Protect(Connection& connection, const Step& step) noexcept {
  try {
    step();
  } catch (const std::exception& failure) {
    LogFailedConnection(service_, failure.what());
    connection.Close();
  }
}

void ServerLoop::Remove(Connection& connection) noexcept {
  if (connections_.Remove(connection)) EndIfDrained();
}

void ServerLoop::Drain() {
  if (draining_) return;
  accepts_for_.clear();  // the other loops may have ended
  listener_.AcceptWaiting();
  draining_ = true;
  listener_.Close();
  protocol_->BeginDrain();
  if (tls_ != nullptr) tls_->BeginDrain();
  DrainConnections();
  loop_->SetTimer(drain_end_, loop_->NowNs() + kDrainGrace.count());
  EndIfDrained();
}

void ServerLoop::DrainConnections() {
  connections_.ForEach([this](Connection& connection) {
    Protect(connection, [&connection] { connection.BeginDrain(); });
  });
}

void ServerLoop::CloseConnections() {
  listener_.Close();
  connections_.ForEach([](Connection& connection) { connection.Close(); });
  loop_->Stop();
}

void ServerLoop::EndIfDrained() {
  if (draining_ && connections_.empty()) loop_->Stop();
}

}  // namespace nereid::frontend::net
