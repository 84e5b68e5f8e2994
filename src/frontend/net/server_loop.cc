// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/server_loop.h"

#include <exception>
#include <utility>

#include "frontend/net/failure_log.h"

namespace nereid::frontend::net {
namespace {

void LogFailedConnection(const std::string& service, const char* reason) noexcept {
  static base::LogThrottle throttle;
  LogFailure(throttle, base::LogLevel::kError,
             {service, ": a connection could not be served and was closed: ", reason});
}

}  // namespace

ServerLoop::ServerLoop(std::unique_ptr<EventLoop> loop, std::string service, ConnectionLimit* limit)
    : loop_(std::move(loop)),
      service_(std::move(service)),
      limit_(limit),
      listener_(
          *loop_, service_, [this](Socket socket) { Add(std::move(socket)); }, limit) {}

// The tasks of a loop that has never run are members of this object.
ServerLoop::~ServerLoop() { loop_->inbox()->Close(); }

void ServerLoop::Run() {
  listener_.Accept();
  loop_->Run();
  protocol_->OnLoopEnded();
}

void ServerLoop::Add(Socket socket) noexcept {
  std::shared_ptr<Connection> connection;
  try {
    connection = protocol_->Connect(loop_->NewStream(std::move(socket)));
    connections_.Add(connection);
  } catch (const std::exception& failure) {
    if (limit_ != nullptr) limit_->Give();
    return LogFailedConnection(service_, failure.what());
  }
  Protect(*connection, [&] { connection->Start(); });
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
  if (!connections_.Remove(connection)) return;
  if (limit_ != nullptr) limit_->Give();
  EndIfDrained();
}

void ServerLoop::Drain() {
  if (std::exchange(draining_, true)) return;
  listener_.Close();
  protocol_->BeginDrain();
  connections_.ForEach([this](Connection& connection) {
    Protect(connection, [&connection] { connection.BeginDrain(); });
  });
  EndIfDrained();
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
