// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/server.h"

#include <algorithm>
#include <utility>

#include "base/scheduling.h"
#include "base/threads.h"
#include "frontend/net/epoll_loop.h"

namespace nereid::frontend::net {

Server::Server(ServerOptions options, NewProtocol new_protocol)
    : options_(std::move(options)), new_protocol_(std::move(new_protocol)) {}

Server::~Server() { Stop(std::chrono::milliseconds{0}); }

base::Status Server::Start() {
  if (options_.tls) {
    NEREID_ASSIGN_OR_RETURN(tls_, TlsContext::Make(*options_.tls));
  }
  NEREID_ASSIGN_OR_RETURN(endpoint_,
                          ResolveEndpoint(options_.service, options_.address, options_.port));
  base::Status status = Listen();
  if (status.ok()) status = StartThreads();
  if (!status.ok()) Stop(std::chrono::milliseconds{0});
  return status;
}

base::Status Server::MakeLoops(int count) {
  for (int i = 0; i < count; ++i) {
    NEREID_ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EpollLoop::Make());
    loops_.push_back(std::make_unique<ServerLoop>(std::move(loop), options_.service,
                                                  options_.connection_limit.get()));
    ServerLoop& added = *loops_.back();
    if (tls_ != nullptr) {
      added.UseTls(*tls_, TlsLoop::kMaxWaiting / static_cast<size_t>(count) + 1);
    }
    added.SetProtocol(new_protocol_(added));
  }
  return base::Status::Ok();
}

// If the loops watched one Unix socket together, the kernel would wake the same one as long as it
// is idle, and that loop would get nearly all of the clients.
base::Status Server::Listen() {
  const int count = options_.loops > 0 ? options_.loops : base::AvailableCpuCount();
  NEREID_RETURN_IF_ERROR(MakeLoops(count));
  if (endpoint_.is_unix()) {
    std::vector<ServerLoop*> all;
    for (const auto& loop : loops_) all.push_back(loop.get());
    loops_.front()->AcceptFor(std::move(all));
    return loops_.front()
        ->Listen(endpoint_, {.unix_socket_mode = options_.unix_socket_mode})
        .status();
  }
  const bool shared = count > 1 || options_.reuse_port;
  if (shared && !options_.reuse_port && options_.port != 0) {
    NEREID_RETURN_IF_ERROR(CheckPortIsFree(endpoint_));
  }
  for (const auto& loop : loops_) {
    NEREID_ASSIGN_OR_RETURN(endpoint_, loop->Listen(endpoint_, {.shared = shared}));
  }
  return base::Status::Ok();
}

base::Status Server::StartThreads() {
  threads_.reserve(loops_.size());
  for (const auto& loop : loops_) {
    const std::string name = options_.thread_name + "-" + std::to_string(threads_.size());
    auto thread = base::StartThread(name, [this, loop = loop.get()] {
      base::WakePromptly();
      loop->Run();
      LoopEnded();
    });
    NEREID_RETURN_IF_ERROR(thread.status());
    threads_.push_back(std::move(thread).value());
    listed_.push_back(std::make_unique<ListedLoop>(name, loop->event_loop().inbox()));
  }
  return base::Status::Ok();
}

void Server::LoopEnded() {
  const base::MutexLock lock(mutex_);
  ++ended_;
  ended_changed_.NotifyAll();
}

void Server::BeginStop() noexcept {
  for (const auto& loop : loops_) loop->BeginDrain();
}

void Server::WaitUntilEnded(std::chrono::steady_clock::time_point deadline) {
  base::MutexLock lock(mutex_);
  while (ended_ < threads_.size()) {
    if (!ended_changed_.WaitUntil(lock, deadline)) return;
  }
}

void Server::Stop(std::chrono::milliseconds grace) {
  constexpr std::chrono::hours kMaxGrace{24 * 365};  // with which times can be calculated
  BeginStop();
  WaitUntilEnded(std::chrono::steady_clock::now() +
                 std::min<std::chrono::milliseconds>(grace, kMaxGrace));
  listed_.clear();
  for (const auto& loop : loops_) loop->CloseAll();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  loops_.clear();
}

}  // namespace nereid::frontend::net
