// SPDX-License-Identifier: Apache-2.0
#include "python/worker_loop.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "nereid/backend/batch.h"
#include "nereid/backend/log.h"

namespace nereid::python {

using backend::Error;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

/// How long a process may live after it has closed a socket.
constexpr milliseconds kEndOfClosed{1000};
/// Limits of executions are checked this often.
constexpr milliseconds kCheckInterval{100};
/// In the words of WaitForEnd.
constexpr const char* kGoodEnd = "exited with code 0";
/// Messages of one socket that are handled before the others get their turn.
constexpr int kMessagesInTurn = 64;

std::string TimeText(milliseconds time) {
  return time.count() % 1000 == 0 ? std::to_string(time.count() / 1000) + " s"
                                  : std::to_string(time.count()) + " ms";
}

}  // namespace

WorkerLoop::WorkerLoop(LoopSettings settings, std::shared_ptr<Worker> worker, int wake,
                       std::function<void(const WireDone&)> started,
                       std::function<void(uint64_t, const WireDone&)> ready)
    : settings_(std::move(settings)),
      worker_(std::move(worker)),
      wake_(wake),
      started_(std::move(started)),
      calls_(settings_.server, worker_, std::move(ready)),
      output_(settings_.name, TRITONSERVER_LOG_INFO),
      errors_(settings_.name, TRITONSERVER_LOG_WARN) {}

void WorkerLoop::Run(const std::function<bool()>& stop) {
  SendFirst();
  while (Step(stop)) {
  }
  CleanUp();
}

void WorkerLoop::SendFirst() {
  std::vector<char> message;
  WireWriter out(&message);
  WriteHeader(&out, settings_.first, 0, {});
  out.Text(settings_.argument);
  worker_->work.Send(message);
  function_.Begin(
      settings_.first == MessageType::kComplete ? "auto_complete_config()" : "initialize()",
      settings_.start_limit, steady_clock::now());
}

void WorkerLoop::SendEnd() {
  phase_ = Phase::kEnding;
  std::vector<char> message;
  WireWriter out(&message);
  WriteHeader(&out, MessageType::kFinalize, 0, worker_->segments.read->Take());
  worker_->work.Send(message);
  function_.Begin("finalize()", settings_.end_limit, steady_clock::now());
}

bool WorkerLoop::ReceivesWork() const {
  // Of a running synchronous model, the thread that executes a batch or a pipeline receives.
  return work_open_ && !worker_->has_reader && (phase_ != Phase::kRunning || worker_->asynchronous);
}

int WorkerLoop::PollTimeout() const {
  milliseconds wait = milliseconds::max();
  for (const std::optional<Time>& time : {deadline_, function_.Next()}) {
    if (time) {
      const auto left = std::chrono::ceil<milliseconds>(*time - steady_clock::now());
      wait = std::min(wait, std::max(left, milliseconds{0}));
    }
  }
  if (settings_.execution_limit.count() > 0) {
    wait = std::min(wait, kCheckInterval);
  }
  return wait == milliseconds::max() ? -1
                                     : static_cast<int>(std::min<int64_t>(wait.count(), INT32_MAX));
}

void WorkerLoop::CheckLimits() {
  if (deadline_ && steady_clock::now() >= *deadline_) {
    deadline_.reset();
    worker_->Kill(mismatch_.empty() ? "it closed its connection to the server" : mismatch_);
  }
  CheckFunction();
  CheckExecution();
}

void WorkerLoop::CheckFunction() {
  const Time now = steady_clock::now();
  const FunctionTimer::Due due = function_.Take(now);
  if (due == FunctionTimer::Due::kLimit) {
    worker_->Kill(std::string(function_.name()) + " did not end within " +
                  TimeText(function_.limit()));
  } else if (due == FunctionTimer::Due::kNotice) {
    NEREID_BACKEND_LOG(
        INFO,
        std::string(function_.name()) + " of the Python model '" + settings_.name +
            "' has run for " + TimeText(function_.Lasted(now)) +
            (function_.limit().count() == 0 ? std::string("; it has no limit")
                                            : "; its limit is " + TimeText(function_.limit())));
  }
}

void WorkerLoop::CheckExecution() {
  const auto limit_ns =
      static_cast<uint64_t>(std::chrono::nanoseconds(settings_.execution_limit).count());
  if (limit_ns == 0) {
    return;
  }
  const uint64_t oldest = worker_->OldestBatch();
  const uint64_t execution =
      oldest != 0 ? oldest + limit_ns : worker_->execution_deadline_ns.load();
  if (execution != 0 && backend::NowNs() >= execution) {
    worker_->Kill("execute() did not end within " + TimeText(settings_.execution_limit));
  }
}

bool WorkerLoop::Step(const std::function<bool()>& stop) {
  const Process& process = worker_->process();
  const short call_events = worker_->call.HasQueued() ? POLLIN | POLLOUT : POLLIN;
  pollfd files[] = {{process.pid_file.get(), POLLIN, 0},
                    {wake_, POLLIN, 0},
                    {ReceivesWork() ? worker_->work.socket() : -1, POLLIN, 0},
                    {call_open_ ? worker_->call.socket() : -1, call_events, 0},
                    {output_open_ ? process.output.get() : -1, POLLIN, 0},
                    {errors_open_ ? process.errors.get() : -1, POLLIN, 0}};
  const int found = poll(files, std::size(files), PollTimeout());
  if (found < 0) {
    return true;  // a signal
  }
  if (files[1].revents != 0) {
    eventfd_t ignored = 0;
    eventfd_read(wake_, &ignored);
  }
  if (!Ends() && stop()) {
    // What has not started has nothing to finish.
    if (phase_ == Phase::kStarting) {
      worker_->Kill("the server stopped it");
      phase_ = Phase::kStopped;
    } else {
      SendEnd();
    }
  }
  if (files[2].revents != 0) {
    Receive(&WorkerLoop::ReceiveWork);
  }
  if (files[3].revents != 0) {
    worker_->call.Flush();
    Receive(&WorkerLoop::ReceiveCalls);
  }
  if (files[4].revents != 0) {
    output_open_ = output_.Read(process.output.get());
  }
  if (files[5].revents != 0) {
    errors_open_ = errors_.Read(process.errors.get());
  }
  CheckLimits();
  return files[0].revents == 0;
}

void WorkerLoop::Receive(void (WorkerLoop::*receive)()) {
  const Error failed = backend::Catching([&]() -> Error {
    (this->*receive)();
    return {};
  });
  if (!failed.ok()) {
    worker_->Kill("the server could not take its message: " + failed.message());
  }
}

void WorkerLoop::ReceiveWork() {
  for (int i = 0; i < kMessagesInTurn && ReceivesWork(); ++i) {
    std::string violation;
    const Channel::Received received = worker_->work.Receive(false, &work_message_, &violation);
    if (received == Channel::Received::kNothing) {
      return;
    }
    if (received == Channel::Received::kMessage) {
      HandleWork(work_message_);
      continue;
    }
    work_open_ = false;
    deadline_ = steady_clock::now() + kEndOfClosed;
    if (!violation.empty()) {
      worker_->Kill("it broke the protocol: " + violation);
    }
  }
}

void WorkerLoop::ReceiveCalls() {
  for (int i = 0; i < kMessagesInTurn && call_open_; ++i) {
    std::string violation;
    const Channel::Received received = worker_->call.Receive(false, &call_message_, &violation);
    if (received == Channel::Received::kNothing) {
      return;
    }
    if (received == Channel::Received::kMessage) {
      violation = calls_.Handle(call_message_);
    } else {
      call_open_ = false;
      deadline_ = steady_clock::now() + kEndOfClosed;
    }
    if (!violation.empty()) {
      call_open_ = false;
      worker_->Kill("it broke the protocol: " + violation);
    }
  }
}

void WorkerLoop::HandleWork(const Incoming& in) {
  switch (in.header.type) {
    case MessageType::kHello:
      HandleHello(in);
      return;
    case MessageType::kDone:
      HandleDone(in);
      return;
    case MessageType::kResults:
      HandleResults(in);
      return;
    default:
      worker_->Kill("it broke the protocol: it sent a message of the unknown type " +
                    std::to_string(static_cast<unsigned>(in.header.type)));
  }
}

void WorkerLoop::HandleHello(const Incoming& in) {
  WireReader body(in.body);
  const auto version = body.Number<uint32_t>();
  greeted_ = true;
  if (version != kProtocolVersion) {
    mismatch_ = "it has version " + std::to_string(version) + " of the protocol, but the server " +
                std::to_string(kProtocolVersion) +
                "; the library and the runtime of the Python backend are not of one installation";
    // A worker whose interpreter cannot run models says so at once, in the same form in each
    // version. That is what the user has to mend first.
    deadline_ = steady_clock::now() + kEndOfClosed;
  }
}

void WorkerLoop::HandleDone(const Incoming& in) {
  WireDone done;
  const auto malformed = ReadDone(in.body, &done);
  if (!mismatch_.empty() && (malformed || done.ok)) {
    worker_->Kill(mismatch_);
    return;
  }
  if (malformed) {
    worker_->Kill("it broke the protocol: " + *malformed);
    return;
  }
  if (!greeted_ && done.ok) {
    worker_->Kill("it broke the protocol: it did not say its version");
    return;
  }
  if (Ends()) {
    if (!done.ok) {
      NEREID_BACKEND_LOG(INFO, std::string(done.text));
    }
    return;  // the end of the process follows
  }
  if (phase_ == Phase::kRunning) {
    return;
  }
  function_.End();
  worker_->asynchronous = done.asynchronous;
  worker_->has_is_ready = done.has_is_ready;
  phase_ = Phase::kRunning;
  started_(done);
}

void WorkerLoop::HandleResults(const Incoming& in) {
  WireResults results;
  if (auto malformed = ReadResults(in.body, &results)) {
    worker_->Kill("it broke the protocol: " + *malformed);
    return;
  }
  const std::shared_ptr<ExecutingBatch> batch = worker_->TakeBatch(in.header.id);
  if (batch == nullptr) {
    worker_->Kill("it broke the protocol: it answered a batch that it does not have");
    return;
  }
  batch->Complete(results, &worker_->segments);
}

void WorkerLoop::CleanUp() {
  while (output_open_ && output_.Read(worker_->process().output.get())) {
    pollfd file{worker_->process().output.get(), POLLIN, 0};
    output_open_ = poll(&file, 1, 0) > 0;
  }
  while (errors_open_ && errors_.Read(worker_->process().errors.get())) {
    pollfd file{worker_->process().errors.get(), POLLIN, 0};
    errors_open_ = poll(&file, 1, 0) > 0;
  }
  output_.Finish();
  errors_.Finish();
  if (!mismatch_.empty()) {
    worker_->Kill(mismatch_);
  }
  const std::string end = worker_->Reap();
  const std::string killed = worker_->kill_reason();
  std::string reason =
      killed.empty() ? "The process " + end + "." : "The process was killed: " + killed + ".";
  if (const std::string lines = errors_.LastLines(); !lines.empty() && killed.empty()) {
    reason += " Its last lines on stderr:" + lines;
  }
  if (phase_ == Phase::kEnding && (!killed.empty() || end != kGoodEnd)) {
    NEREID_BACKEND_LOG(WARN, "finalize() of the Python model '" + settings_.name +
                                 "' did not complete. " + reason);
  }
  worker_->MarkEnded(reason);
  const Error error =
      Error::Internal("Stub process '" + settings_.name + "' is not healthy. " + reason);
  for (const std::shared_ptr<ExecutingBatch>& batch : worker_->TakeBatches()) {
    batch->Fail(error);
  }
  if (settings_.pipelined && !worker_->asynchronous) {
    // The pipeline answers or repeats what the worker has not executed.
    worker_->requests.FailLeft(error);
  } else {
    for (const std::shared_ptr<PendingRequest>& request : worker_->requests.TakeAll()) {
      request->Fail(error);
    }
  }
  calls_.BeginClose();
}

}  // namespace nereid::python
