// SPDX-License-Identifier: Apache-2.0
#include "python/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/threads.h"
#include "nereid/backend/batch.h"
#include "nereid/backend/log.h"

namespace nereid::python {

using backend::Error;
using backend::NowNs;

namespace {

/// How long a process may live after it has closed its socket.
constexpr std::chrono::milliseconds kEndOfClosed{1000};

}  // namespace

Pipeline::~Pipeline() { Stop(); }

Error Pipeline::Start() {
  base::Result<std::thread> started =
      base::StartThread("results_" + settings_.name, [this] { Run(); });
  if (!started.ok()) {
    return {TRITONSERVER_ERROR_UNAVAILABLE, started.status().message()};
  }
  thread_ = std::move(started).value();
  return {};
}

void Pipeline::Stop() {
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Pipeline::Drain() {
  base::MutexLock lock(mutex_);
  ++waiting_;
  while (!entries_.empty() || !repeats_.empty() || repeating_) {
    changed_.Wait(lock);
  }
  --waiting_;
}

void Pipeline::SizeChanged() {
  size_ = entries_.size();
  depth_ = pace_.depth();
  if (parked_ || (waiting_ > 0 && entries_.size() <= pace_.depth() / 2)) {
    changed_.NotifyAll();
  }
}

void Pipeline::BeginFirst(uint64_t now_ns) {
  if (entries_.empty()) {
    return;
  }
  const Entry& first = entries_.front();
  first.batch->Begin(now_ns);
  if (settings_.execution_limit.count() > 0) {
    first.worker->execution_deadline_ns =
        now_ns + static_cast<uint64_t>(std::chrono::nanoseconds(settings_.execution_limit).count());
  }
}

void Pipeline::Add(std::shared_ptr<Worker> worker, uint64_t id,
                   std::shared_ptr<ExecutingBatch> batch) {
  const base::MutexLock lock(mutex_);
  entries_.push_back({std::move(worker), id, std::move(batch)});
  if (entries_.size() == 1) {
    BeginFirst(NowNs());
  }
  SizeChanged();
}

void Pipeline::WaitForRoom() {
  base::MutexLock lock(mutex_);
  if (entries_.size() < pace_.depth()) {
    return;
  }
  ++waiting_;
  while (entries_.size() > pace_.depth() / 2) {
    changed_.Wait(lock);
  }
  --waiting_;
}

void Pipeline::Repeat(Requests requests) {
  const base::MutexLock lock(mutex_);
  repeats_.push_back(std::move(requests));
  SizeChanged();
}

void Pipeline::Run() {
  while (std::shared_ptr<Worker> worker = NextWorker()) {
    worker->has_reader = true;
    while (Receive(worker)) {
      RepeatOne();
    }
    FailWorker(worker.get());
  }
}

std::shared_ptr<Worker> Pipeline::NextWorker() {
  for (;;) {
    RepeatOne();
    base::MutexLock lock(mutex_);
    parked_ = true;
    while (entries_.empty() && repeats_.empty() && !stop_) {
      changed_.Wait(lock);
    }
    parked_ = false;
    if (!entries_.empty()) {
      return entries_.front().worker;
    }
    if (repeats_.empty()) {
      return nullptr;
    }
  }
}

void Pipeline::RepeatOne() {
  if (size_.load() != 0) {
    return;
  }
  base::MutexLock lock(mutex_);
  if (!entries_.empty() || repeats_.empty()) {
    return;
  }
  Requests requests = std::move(repeats_.front());
  repeats_.pop_front();
  repeating_ = true;
  lock.Unlock();
  settings_.repeat(std::move(requests));
  lock.Lock();
  repeating_ = false;
  SizeChanged();
}

bool Pipeline::Receive(const std::shared_ptr<Worker>& worker) {
  std::string violation;
  const Error failed = backend::Catching([&]() -> Error {
    if (worker->work.Receive(true, &incoming_, &violation) == Channel::Received::kMessage) {
      violation = Handle(worker.get());
      return violation.empty() ? Error() : Error::Internal(violation);
    }
    return Error::Internal("");
  });
  if (failed.ok()) {
    return true;
  }
  if (!violation.empty()) {
    worker->Kill("it broke the protocol: " + violation);
  } else if (!failed.message().empty()) {
    worker->Kill("the server could not take its message: " + failed.message());
  } else if (!worker->WaitUntilEnded(kEndOfClosed)) {
    worker->Kill("it closed its connection to the server");
  }
  return false;
}

std::string Pipeline::Handle(Worker* worker) {
  if (incoming_.header.type == MessageType::kDone) {
    WireDone done;
    if (auto malformed = ReadDone(incoming_.body, &done)) {
      return *malformed;
    }
    if (!done.ok) {
      NEREID_BACKEND_LOG(INFO, std::string(done.text));
    }
    return "";  // the end of the process follows
  }
  WireResults results;
  if (auto malformed = ReadResults(incoming_.body, &results)) {
    return *malformed;
  }
  const uint64_t now = NowNs();
  const std::shared_ptr<ExecutingBatch> batch =
      incoming_.header.type == MessageType::kResults ? First(worker, incoming_.header.id) : nullptr;
  if (batch == nullptr) {
    return "it sent another message than the results of its batch";
  }
  batch->Complete(results, &worker->segments);
  RemoveFirst(now);
  return "";
}

std::shared_ptr<ExecutingBatch> Pipeline::First(Worker* worker, uint64_t id) {
  const base::MutexLock lock(mutex_);
  const bool found =
      !entries_.empty() && entries_.front().worker.get() == worker && entries_.front().id == id;
  return found ? entries_.front().batch : nullptr;
}

void Pipeline::RemoveFirst(uint64_t end_ns) {
  const base::MutexLock lock(mutex_);
  const Entry first = std::move(entries_.front());
  entries_.pop_front();
  const uint64_t start_ns = first.batch->start_ns();
  pace_.Record(end_ns - std::min(end_ns, start_ns));
  first.worker->execution_deadline_ns = 0;
  BeginFirst(end_ns);
  SizeChanged();
}

void Pipeline::FailWorker(Worker* worker) {
  const Error error = Error::Internal("Stub process '" + settings_.name + "' is not healthy. " +
                                      worker->WaitForReason());
  // The loop of the worker has not seen those of results that came last.
  worker->requests.FailLeft(error);
  std::shared_ptr<ExecutingBatch> first;
  {
    const base::MutexLock lock(mutex_);
    if (entries_.empty() || entries_.front().worker.get() != worker) {
      return;
    }
    first = entries_.front().batch;
    while (entries_.size() > 1 && entries_[1].worker.get() == worker) {
      const std::shared_ptr<ExecutingBatch> batch = std::move(entries_[1].batch);
      entries_.erase(entries_.begin() + 1);
      // The analysis does not know that the lambda runs with the lock held.
      const Error failed = backend::Catching([repeats = &repeats_, &batch]() -> Error {
        repeats->emplace_back();
        repeats->back() = batch->Withdraw();
        return {};
      });
      if (!failed.ok()) {
        batch->Fail(failed);
      }
    }
  }
  first->Fail(error);
  RemoveFirst(NowNs());
}

}  // namespace nereid::python
