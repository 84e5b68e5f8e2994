// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "frontend/net/loop_stage.h"
#include "frontend/net/server_loop.h"
#include "frontend/net/tls_context.h"
#include "frontend/net/tls_settings.h"

namespace nereid::frontend::net {

struct ServerOptions {
  std::string service;             // names the front end in messages: "HTTP", "gRPC"
  std::string thread_name;         // "http": the threads are http-0, http-1, ...
  std::string address;             // an IPv4 or IPv6 address, a host name, or a Unix socket
  uint16_t port = 0;               // 0: the kernel chooses
  bool reuse_port = false;         // whether other processes may serve the same port
  mode_t unix_socket_mode = 0660;  // of the file of a Unix socket
  int loops = 0;                   // event loops, each with its own thread; 0: one for each CPU
  /// Limits the open connections, together with the other servers that share it. Null: no limit.
  std::shared_ptr<ConnectionLimit> connection_limit;
  /// Not set: the connections are not encrypted.
  std::optional<TlsSettings> tls = std::nullopt;
};

/// The threads and sockets of a front end: event loops, each with a listening socket, to which the
/// kernel distributes the connections. Of a Unix socket there can be only one: the first loop has
/// it and distributes the connections. Start() and Stop() must be called on one thread.
class Server {
 public:
  /// Returns the protocol that serves the connections of a loop. The loop outlives it, except for
  /// parts that connections keep after the end.
  using NewProtocol = std::function<std::shared_ptr<Protocol>(ServerLoop&)>;

  Server(ServerOptions options, NewProtocol new_protocol);
  ~Server();  // stops at once
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens and begins to serve. Returns INVALID_ARG for files that TLS cannot use (see
  /// TlsCredentials), for an address that cannot be resolved, and for the path of a file that is no
  /// socket; UNAVAILABLE "Socket 'A:P' already in use " if another socket has the port or the path,
  /// and UNAVAILABLE if the system does not provide threads or descriptors. Must be called once.
  base::Status Start();

  /// Returns the served port; 0 for a Unix socket. Must be called after Start().
  uint16_t port() const { return endpoint_.port(); }

  /// Stops accepting, and ends the connections without a request in progress. Does not wait. May be
  /// called on any thread after Start().
  void BeginStop() noexcept;

  /// Does the same as BeginStop(), waits up to `grace` for the other connections, and closes them.
  /// Blocks until the threads have ended. A second call does nothing.
  void Stop(std::chrono::milliseconds grace);

 private:
  base::Status MakeLoops(int count);
  base::Status Listen();
  base::Status StartThreads();
  void LoopEnded();
  void WaitUntilEnded(std::chrono::steady_clock::time_point deadline);

  const ServerOptions options_;
  const NewProtocol new_protocol_;
  Endpoint endpoint_;
  std::shared_ptr<TlsContext> tls_;  // null without TLS
  std::vector<std::unique_ptr<ServerLoop>> loops_;
  std::vector<std::thread> threads_;
  /// The loops as the watchdog sees them.
  struct ListedLoop {
    ListedLoop(const std::string& name, std::shared_ptr<Inbox> inbox)
        : stage(std::make_shared<LoopStage>(std::move(inbox))),
          entry({base::StageKind::kEventLoop, name}, *stage) {}
    const std::shared_ptr<LoopStage> stage;
    const base::StageList::Entry entry;
  };
  std::vector<std::unique_ptr<ListedLoop>> listed_;

  base::Mutex mutex_;
  size_t ended_ NEREID_GUARDED_BY(mutex_) = 0;  // loops that have ended
  base::ConditionVariable ended_changed_;
};

}  // namespace nereid::frontend::net
