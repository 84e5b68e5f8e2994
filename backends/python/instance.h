// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "nereid/backend/error.h"
#include "python/batch_message.h"
#include "python/executing_batch.h"
#include "python/model.h"
#include "python/pipeline.h"
#include "python/supervisor.h"
#include "triton/core/tritonbackend.h"

namespace nereid::python {

/// An instance of a Python model. Execute runs on one thread at a time, CheckReady on any.
class PythonInstance {
 public:
  explicit PythonInstance(PythonModel* model) : model_(*model) {}
  ~PythonInstance();

  /// Starts the worker and waits for its initialize().
  backend::Error Load(TRITONBACKEND_ModelInstance* instance);

  /// Passes the requests to the worker. If execute() is a coroutine, returns at once, unless too
  /// many batches run, and the supervisor's thread takes the results. Of a pipelined model the
  /// pipeline's thread takes them, and the call waits for its room. Of others the call waits for
  /// the results.
  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count);

  /// Whether Execute would not wait for the worker. If so, the next Execute does not.
  bool HasRoom();

  backend::Error CheckReady() { return supervisor_->CheckReady(); }

 private:
  /// Takes the requests from `*taken` on, which counts them: the others are not owned yet.
  void WriteBatch(TRITONBACKEND_Request** requests, uint32_t count, ExecutingBatch* batch,
                  uint32_t* taken) NEREID_REQUIRES(sending_);
  /// Writes the message of a batch.
  backend::Error Write(Worker* worker, TRITONBACKEND_Request** requests, uint32_t count,
                       ExecutingBatch* batch, uint32_t* taken) NEREID_REQUIRES(sending_);
  void FailAll(TRITONBACKEND_Request** requests, uint32_t count, const backend::Error& error);
  /// Executes on the worker, and answers whatever is not executed.
  void ExecuteOn(const std::shared_ptr<Worker>& worker, TRITONBACKEND_Request** requests,
                 uint32_t count);
  void RunOn(const std::shared_ptr<Worker>& worker, TRITONBACKEND_Request** requests,
             uint32_t count, uint32_t* taken) NEREID_EXCLUDES(sending_);
  /// Executes requests that a worker has lost before it began them.
  void Repeat(Pipeline::Requests requests);
  /// Sends the batch of a model that is neither a coroutine nor pipelined; returns whether it was
  /// sent.
  bool Begin(Worker* worker) NEREID_REQUIRES(sending_);
  /// Receives its results and answers it.
  void Finish(Worker* worker, uint64_t id, bool sent, ExecutingBatch* batch);
  backend::Error Unhealthy(Worker* worker) const;
  /// Receives the results of the batch. Returns false if the worker has ended.
  bool ReceiveResults(Worker* worker, uint64_t id, WireResults* results);

  PythonModel& model_;
  TRITONBACKEND_ModelInstance* instance_ = nullptr;
  std::string name_;
  std::unique_ptr<Supervisor> supervisor_;
  /// Null if the model is not pipelined.
  std::unique_ptr<Pipeline> pipeline_;
  /// Whether HasRoom has said so since the last Execute.
  bool promised_ = false;
  Incoming incoming_;
  /// Held while a batch is written and sent: the thread of the pipeline repeats batches.
  base::Mutex sending_;
  BatchMessage message_ NEREID_GUARDED_BY(sending_);
  uint64_t last_batch_ NEREID_GUARDED_BY(sending_) = 0;
};

}  // namespace nereid::python
