// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "python/inner_calls.h"
#include "python/messages.h"
#include "python/metrics.h"
#include "python/worker.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// Carries out what the model of one worker asks of the server on the call socket. The supervisor's
/// thread calls Handle; nothing in it waits for another model or for a load, which have threads of
/// their own.
class ModelCalls {
 public:
  /// `server` outlives the object. `ready` gets the answers to questions for readiness.
  ModelCalls(TRITONSERVER_Server* server, std::shared_ptr<Worker> worker,
             std::function<void(uint64_t id, const WireDone& answer)> ready);
  ModelCalls(const ModelCalls&) = delete;
  ModelCalls& operator=(const ModelCalls&) = delete;
  /// Close must have been called.
  ~ModelCalls() = default;

  /// Carries out one call. Returns how the worker broke the protocol; empty if it did not.
  std::string Handle(const Incoming& in);

  /// Ends all calls after the worker has ended, as far as that needs no waiting, and deletes the
  /// metrics of the model.
  void BeginClose();
  /// Returns whether nothing is at work any more. After BeginClose.
  bool IsClosed();
  /// Waits for what is at work. After BeginClose.
  void Close();

 private:
  struct Load {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> done;
  };

  /// More loads of one model's process than this do not run at once.
  static constexpr size_t kMaxLoads = 32;

  std::string HandleSend(const Incoming& in);
  std::string HandleLog(const Incoming& in);
  std::string HandleInfer(const Incoming& in);
  std::string HandleControl(const Incoming& in);
  std::string HandleReady(const Incoming& in);
  backend::Error CallMetrics(const WireControl& control, std::string* value);
  backend::Error TraceContext(const WireControl& control, std::string* value);
  void StartLoad(uint64_t id, const WireControl& control);
  void JoinLoads(bool all);
  void Reply(uint64_t id, const backend::Error& error, std::string_view value) {
    Reply(worker_.get(), id, error, value);
  }
  static void Reply(Worker* worker, uint64_t id, const backend::Error& error,
                    std::string_view value);

  TRITONSERVER_Server* const server_;
  const std::shared_ptr<Worker> worker_;
  const std::function<void(uint64_t id, const WireDone& answer)> ready_;
  InnerCalls inner_;
  Metrics metrics_;
  std::vector<Load> loads_;
};

}  // namespace nereid::python
