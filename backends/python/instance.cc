// SPDX-License-Identifier: Apache-2.0
#include "python/instance.h"

#include <chrono>
#include <utility>

#include "nereid/backend/batch.h"
#include "nereid/backend/log.h"

namespace nereid::python {

using backend::Error;

namespace {

/// How long a batch waits for a worker that is being started again.
constexpr std::chrono::milliseconds kPatience{1000};
/// The same for a batch that the last worker has lost before it began it.
constexpr std::chrono::milliseconds kPatienceOfLost{10'000};
/// How long a process may live after it has closed its socket.
constexpr std::chrono::milliseconds kEndOfClosed{1000};

}  // namespace

PythonInstance::~PythonInstance() {
  if (pipeline_ != nullptr) {
    pipeline_->Drain();
  }
  if (supervisor_ != nullptr) {
    supervisor_->Stop();
  }
  // The end of the last worker ends the wait of its thread.
  pipeline_.reset();
}

Error PythonInstance::Load(TRITONBACKEND_ModelInstance* instance) {
  SupervisorSettings settings;
  NEREID_BACKEND_TRY(model_.InstanceSettings(instance, &settings));
  instance_ = instance;
  name_ = settings.loop.name;
  supervisor_ = std::make_unique<Supervisor>(&model_.spawner(), std::move(settings));
  if (model_.pipelined()) {
    pipeline_ = std::make_unique<Pipeline>(
        Pipeline::Settings{name_, model_.execution_limit(),
                           [this](Pipeline::Requests requests) { Repeat(std::move(requests)); }});
    NEREID_BACKEND_TRY(pipeline_->Start());
  }
  Error failed = supervisor_->Start();
  if (!failed.ok()) {
    NEREID_BACKEND_LOG(INFO, "Failed to initialize Python stub: " + failed.message());
  }
  return failed;
}

void PythonInstance::WriteBatch(TRITONBACKEND_Request** requests, uint32_t count,
                                ExecutingBatch* batch, uint32_t* taken) {
  while (*taken < count) {
    TRITONBACKEND_Request* request = requests[*taken];
    const uint64_t number = batch->Add(request);
    ++*taken;
    if (number == 0) {
      continue;
    }
    if (const Error error = message_.Add(number, request); !error.ok()) {
      batch->Refuse(error);
    }
  }
}

void PythonInstance::FailAll(TRITONBACKEND_Request** requests, uint32_t count, const Error& error) {
  PendingRequests table;
  ExecutingBatch batch(instance_, &table, &model_.traits());
  for (uint32_t i = 0; i < count; ++i) {
    batch.Add(requests[i]);
  }
  batch.Fail(error);
}

bool PythonInstance::HasRoom() {
  if (pipeline_ == nullptr || !pipeline_->HasRoom()) {
    return false;
  }
  std::string ignored;
  const std::shared_ptr<Worker> worker =
      supervisor_->Current(std::chrono::milliseconds{0}, &ignored);
  promised_ = worker != nullptr && worker->work.HasSpace();
  return promised_;
}

void PythonInstance::Execute(TRITONBACKEND_ModelInstance*, TRITONBACKEND_Request** requests,
                             uint32_t count) {
  const bool may_wait = !std::exchange(promised_, false);
  std::string reason;
  const std::shared_ptr<Worker> worker =
      supervisor_->Current(may_wait ? kPatience : std::chrono::milliseconds{0}, &reason);
  if (worker != nullptr) {
    ExecuteOn(worker, requests, count);
  } else if (!may_wait && pipeline_ != nullptr) {
    // The worker has ended since HasRoom. The thread of the pipeline may wait for the next one.
    pipeline_->Repeat({requests, requests + count});
  } else {
    FailAll(requests, count, Error::Internal(reason));
  }
  if (may_wait && pipeline_ != nullptr) {
    pipeline_->WaitForRoom();
  }
}

void PythonInstance::Repeat(Pipeline::Requests requests) {
  const auto count = static_cast<uint32_t>(requests.size());
  std::string reason;
  if (const auto worker = supervisor_->Current(kPatienceOfLost, &reason)) {
    ExecuteOn(worker, requests.data(), count);
  } else {
    FailAll(requests.data(), count, Error::Internal(reason));
  }
}

void PythonInstance::ExecuteOn(const std::shared_ptr<Worker>& worker,
                               TRITONBACKEND_Request** requests, uint32_t count) {
  NEREID_BACKEND_LOG(VERBOSE, "model " + model_.config().name + ", instance " + name_ +
                                  ", executing " + std::to_string(count) + " requests");
  uint32_t taken = 0;
  const Error failed = backend::Catching([&]() -> Error {
    RunOn(worker, requests, count, &taken);
    return {};
  });
  // The batch has answered what it had taken.
  if (!failed.ok() && taken < count) {
    FailAll(requests + taken, count - taken, failed);
  }
}

Error PythonInstance::Write(Worker* worker, TRITONBACKEND_Request** requests, uint32_t count,
                            ExecutingBatch* batch, uint32_t* taken) {
  message_.Begin(++last_batch_, worker->segments.read->Take(),
                 {&worker->segments, model_.input_arena(), model_.gpu_inputs()});
  WriteBatch(requests, count, batch, taken);
  if (batch->empty()) {
    return {};
  }
  // The analysis does not know that the lambda runs with the lock held.
  Error copied = backend::Catching([message = &message_] { return message->Finish(); });
  if (!copied.ok()) {
    message_.FreeSegments();
  }
  return copied;
}

void PythonInstance::RunOn(const std::shared_ptr<Worker>& worker, TRITONBACKEND_Request** requests,
                           uint32_t count, uint32_t* taken) {
  const auto batch =
      std::make_shared<ExecutingBatch>(instance_, &worker->requests, &model_.traits());
  base::MutexLock lock(sending_);
  if (Error failed = Write(worker.get(), requests, count, batch.get(), taken); !failed.ok()) {
    batch->Fail(failed);
    return;
  }
  if (batch->empty()) {
    return;
  }
  batch->ComputeStarts();
  const uint64_t id = last_batch_;
  if (worker->asynchronous) {
    if (!worker->AddBatch(id, batch, static_cast<size_t>(model_.max_concurrent_batches()))) {
      batch->Fail(Unhealthy(worker.get()));
      return;
    }
    // If this fails, the supervisor answers the batch.
    if (!worker->work.Send(message_.message(), message_.segments())) {
      worker->Kill("it does not take batches");
    }
  } else if (pipeline_ != nullptr) {
    pipeline_->Add(worker, id, batch);
    // If this fails, the pipeline answers the batch.
    if (!worker->work.Send(message_.message(), message_.segments())) {
      worker->work.Shutdown();
    }
  } else {
    const bool sent = Begin(worker.get());
    lock.Unlock();
    Finish(worker.get(), id, sent, batch.get());
  }
}

Error PythonInstance::Unhealthy(Worker* worker) const {
  return Error::Internal("Stub process '" + name_ + "' is not healthy. " + worker->WaitForReason());
}

bool PythonInstance::Begin(Worker* worker) {
  const auto limit = model_.execution_limit();
  if (limit.count() > 0) {
    worker->execution_deadline_ns =
        backend::NowNs() + static_cast<uint64_t>(std::chrono::nanoseconds(limit).count());
  }
  return worker->work.Send(message_.message(), message_.segments());
}

void PythonInstance::Finish(Worker* worker, uint64_t id, bool sent, ExecutingBatch* batch) {
  if (!sent && !worker->WaitUntilEnded(kEndOfClosed)) {
    worker->Kill("it does not take batches");
  }
  WireResults results;
  const bool received = sent && ReceiveResults(worker, id, &results);
  worker->execution_deadline_ns = 0;
  if (!received) {
    batch->Fail(Unhealthy(worker));
    return;
  }
  batch->Complete(results, &worker->segments);
}

bool PythonInstance::ReceiveResults(Worker* worker, uint64_t id, WireResults* results) {
  std::string violation;
  const Channel::Received received = worker->work.Receive(true, &incoming_, &violation);
  if (received == Channel::Received::kMessage) {
    std::optional<std::string> malformed = ReadResults(incoming_.body, results);
    if (incoming_.header.type != MessageType::kResults || incoming_.header.id != id) {
      malformed = "it sent another message than the results of its batch";
    }
    if (!malformed) {
      return true;
    }
    violation = *malformed;
  }
  if (!violation.empty()) {
    worker->Kill("it broke the protocol: " + violation);
  } else if (!worker->WaitUntilEnded(kEndOfClosed)) {
    worker->Kill("it closed its connection to the server");
  }
  return false;
}

}  // namespace nereid::python
