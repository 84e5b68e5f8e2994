// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

#include "python/extension/python.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// A server of the engine, which calls and front ends share with the Python object. Deletes the
/// server with its last reference, unless the process was forked since: the threads of the server
/// exist in the parent only, and waiting for them would never end.
class Engine {
 public:
  explicit Engine(TRITONSERVER_Server* server);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  TRITONSERVER_Server* server() const { return server_; }
  /// Returns whether this process is the one that made the server.
  bool IsOurs() const;

 private:
  TRITONSERVER_Server* const server_;
  const int process_generation_;
};

/// Marks the thread as one of the engine in its scope, which is a callback. The last reference to
/// an engine may end there, but the server cannot be deleted there: the deletion would wait for
/// this thread. A Python thread deletes it (graveyard.h).
class EngineThread {
 public:
  EngineThread();
  ~EngineThread();
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;
};

/// Raises ForkedError and returns false in a process that was forked since the engine was made.
bool CheckProcess(const Engine& engine);
/// Raises ForkedError and returns false if a server was made before this process was forked: the
/// threads that all servers share are missing here, too.
bool CheckCanMakeServer();

}  // namespace nereid::python
