// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/function_timer.h"
#include "python/model_calls.h"
#include "python/output_lines.h"
#include "python/worker.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// What a loop needs to know about its worker.
struct LoopSettings {
  TRITONSERVER_Server* server = nullptr;
  /// The name of the instance, or of the model that completes its configuration.
  std::string name;
  /// kInitialize or kComplete, and its argument.
  MessageType first = MessageType::kInitialize;
  std::string argument;
  /// Of the first call, of an execution, and of the end; 0 for no limit.
  std::chrono::milliseconds start_limit{0};
  std::chrono::milliseconds execution_limit{0};
  std::chrono::milliseconds end_limit{0};
  /// Whether a pipeline has the worker's requests, so that it also answers them at the end.
  bool pipelined = false;
};

/// Runs what one worker needs on one thread, from its start to its end: the first call, the calls
/// of the model, the results of batches that were left to it, the output, the limits of time.
class WorkerLoop {
 public:
  /// `wake` is an eventfd that ends a wait of the loop. `started` gets the answer to the first
  /// call, before any batch; `ready` those to questions for readiness.
  WorkerLoop(LoopSettings settings, std::shared_ptr<Worker> worker, int wake,
             std::function<void(const WireDone&)> started,
             std::function<void(uint64_t, const WireDone&)> ready);

  /// Runs until the process has ended, and cleans up: every request of the worker is answered.
  /// `stop` is asked after each wake; when it returns true, the worker is asked to end.
  void Run(const std::function<bool()>& stop);

  /// After Run: whether no call of the model is at work any more in the server.
  bool IsClosed() { return calls_.IsClosed(); }
  /// After Run: waits until then. Must be called before the loop is destroyed.
  void Close() { calls_.Close(); }

 private:
  /// kStopped: the process is killed before it has started, so finalize() is not called.
  enum class Phase { kStarting, kRunning, kEnding, kStopped };
  using Time = std::chrono::steady_clock::time_point;

  bool Step(const std::function<bool()>& stop);
  /// Receives what is there. If there is no memory for it, kills the worker.
  void Receive(void (WorkerLoop::*receive)());
  void ReceiveWork();
  void ReceiveCalls();
  void HandleWork(const Incoming& in);
  void HandleHello(const Incoming& in);
  void HandleDone(const Incoming& in);
  void HandleResults(const Incoming& in);
  void SendFirst();
  void SendEnd();
  void CheckLimits();
  void CheckFunction();
  void CheckExecution();
  int PollTimeout() const;
  bool ReceivesWork() const;
  bool Ends() const { return phase_ == Phase::kEnding || phase_ == Phase::kStopped; }
  void CleanUp();

  const LoopSettings settings_;
  const std::shared_ptr<Worker> worker_;
  const int wake_;
  const std::function<void(const WireDone&)> started_;
  ModelCalls calls_;
  OutputLines output_;
  OutputLines errors_;
  bool output_open_ = true;
  bool errors_open_ = true;
  bool work_open_ = true;
  bool call_open_ = true;
  Phase phase_ = Phase::kStarting;
  bool greeted_ = false;
  /// What is wrong with the version that the worker has said; empty if nothing is.
  std::string mismatch_;
  /// What the worker does before its first batch and after its last one.
  FunctionTimer function_;
  /// When a process that has closed a connection is killed.
  std::optional<Time> deadline_;
  Incoming work_message_;
  Incoming call_message_;
};

}  // namespace nereid::python
