// SPDX-License-Identifier: Apache-2.0
#include "python/extension/engine.h"

#include <pthread.h>

#include "python/extension/errors.h"
#include "python/extension/graveyard.h"

namespace nereid::python {
namespace {

/// The number of forks between the first process and this one.
std::atomic<int> generation{0};
/// The generation in which the first server was made; -1: none was made.
std::atomic<int> first_server_generation{-1};

thread_local int callbacks = 0;  // that run on this thread

int Generation() {
  [[maybe_unused]] static const int installed =
      pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
  return generation.load(std::memory_order_relaxed);
}

}  // namespace

Engine::Engine(TRITONSERVER_Server* server) : server_(server), process_generation_(Generation()) {
  int none = -1;
  first_server_generation.compare_exchange_strong(none, process_generation_);
}

Engine::~Engine() {
  if (!IsOurs()) return;
  if (callbacks > 0) {
    BuryServer(server_);
  } else {
    // The engine logs the reason of a failed stop, after which plug-ins still use the server.
    TRITONSERVER_ErrorDelete(TRITONSERVER_ServerDelete(server_));
  }
}

EngineThread::EngineThread() { ++callbacks; }

EngineThread::~EngineThread() { --callbacks; }

bool Engine::IsOurs() const { return process_generation_ == Generation(); }

bool CheckProcess(const Engine& engine) {
  if (engine.IsOurs()) [[likely]] {
    return true;
  }
  Raise(
      kForkedError,
      "this process was forked from the one that started the server, and the server's threads run "
      "there only. Start a server in this process, with the start method \"spawn\" of "
      "multiprocessing, or send requests to the server's ports");
  return false;
}

bool CheckCanMakeServer() {
  const int first = first_server_generation.load();
  if (first < 0 || first == Generation()) return true;
  Raise(
      kForkedError,
      "a server was started before this process was forked, so no server can start in it. Use the "
      "start method \"spawn\" of multiprocessing, or fork before the first server is started");
  return false;
}

}  // namespace nereid::python
