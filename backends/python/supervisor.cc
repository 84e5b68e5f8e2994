// SPDX-License-Identifier: Apache-2.0
#include "python/supervisor.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "base/threads.h"
#include "nereid/backend/log.h"

namespace nereid::python {

using backend::Error;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr milliseconds kLeastDelay{500};
constexpr milliseconds kMostDelay{30'000};
/// A worker that ran this long ends a row of failures.
constexpr milliseconds kLongRun{10'000};
constexpr milliseconds kReadyLimit{5000};

}  // namespace

milliseconds RestartDelay(int64_t failures) {
  if (failures <= 1) {
    return milliseconds{0};
  }
  const int64_t doublings = std::min<int64_t>(failures - 2, 10);
  return std::min(kLeastDelay * (int64_t{1} << doublings), kMostDelay);
}

Supervisor::Supervisor(Spawner* spawner, SupervisorSettings settings)
    : spawner_(*spawner),
      settings_(std::move(settings)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Supervisor::~Supervisor() { Stop(); }

Error Supervisor::Start() {
  if (!wake_.ok()) {
    return {TRITONSERVER_ERROR_UNAVAILABLE, "cannot make an eventfd for a Python model"};
  }
  base::Result<std::thread> started =
      base::StartThread("python_" + settings_.loop.name, [this] { Run(); });
  if (!started.ok()) {
    return {TRITONSERVER_ERROR_UNAVAILABLE, started.status().message()};
  }
  thread_ = std::move(started).value();
  base::MutexLock lock(mutex_);
  while (!first_done_) {
    changed_.Wait(lock);
  }
  return worker_ != nullptr ? Error() : Error::Internal(reason_);
}

void Supervisor::Stop() {
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) {
    eventfd_write(wake_.get(), 1);
    thread_.join();
  }
  for (const auto& loop : ended_loops_) {
    loop->Close();
  }
  ended_loops_.clear();
}

bool Supervisor::Stopping() {
  const base::MutexLock lock(mutex_);
  return stop_;
}

void Supervisor::Run() {
  int64_t failures = 0;
  while (RunOne(&failures)) {
    const milliseconds delay = RestartDelay(failures);
    NEREID_BACKEND_LOG(WARN, "the process of the Python model instance '" + settings_.loop.name +
                                 "' is started again in " + std::to_string(delay.count()) +
                                 " ms (failure " + std::to_string(failures) + ", limit " +
                                 std::to_string(settings_.restart_limit) + ")");
    if (!WaitForRestart(delay)) {
      return;
    }
  }
}

bool Supervisor::RunOne(int64_t* failures) {
  Process process;
  const Error spawned = spawner_.Spawn(settings_.command, &process);
  const auto begin = steady_clock::now();
  if (spawned.ok()) {
    const auto worker =
        std::make_shared<Worker>(std::move(process), settings_.memory_limit, wake_.get());
    std::string refusal;
    const auto started = [&](const WireDone& done) {
      if (!done.ok) {
        refusal = std::string(done.text);
        worker->Kill("its start failed");
        return;
      }
      Started(worker, done);
    };
    auto loop = std::make_unique<WorkerLoop>(
        settings_.loop, worker, wake_.get(), started,
        [this](uint64_t id, const WireDone& answer) { Answered(id, answer); });
    loop->Run([this] { return Stopping(); });
    ended_loops_.push_back(std::move(loop));
    std::erase_if(ended_loops_, [](const auto& ended) { return ended->IsClosed(); });
    Ended(!refusal.empty() ? refusal
                           : "Stub process '" + settings_.loop.name + "' is not healthy. " +
                                 worker->WaitForReason());
  } else {
    Ended(spawned.message());
  }
  const base::MutexLock lock(mutex_);
  if (!std::exchange(first_done_, true) || stop_) {
    changed_.NotifyAll();
    return false;
  }
  NEREID_BACKEND_LOG(ERROR, reason_);
  *failures = steady_clock::now() - begin >= kLongRun ? 1 : *failures + 1;
  if (*failures > settings_.restart_limit) {
    reason_ += " It has ended " + std::to_string(*failures) +
               " times in a row and is not started again; reload the model.";
    restarting_ = false;
    changed_.NotifyAll();
    return false;
  }
  return true;
}

void Supervisor::Started(const std::shared_ptr<Worker>& worker, const WireDone&) {
  const base::MutexLock lock(mutex_);
  worker_ = worker;
  first_done_ = true;
  restarting_ = false;
  changed_.NotifyAll();
}

void Supervisor::Ended(const std::string& reason) {
  const base::MutexLock lock(mutex_);
  worker_ = nullptr;
  reason_ = reason;
  restarting_ = true;
  if (question_ != nullptr) {
    question_->done = true;
    question_->text =
        "Stub process is not healthy while waiting for user-defined is_ready() response";
    question_ = nullptr;
  }
  changed_.NotifyAll();
}

bool Supervisor::WaitForRestart(milliseconds delay) {
  const auto deadline = steady_clock::now() + delay;
  base::MutexLock lock(mutex_);
  while (!stop_) {
    if (!changed_.WaitUntil(lock, deadline)) {
      return !stop_;
    }
  }
  return false;
}

std::shared_ptr<Worker> Supervisor::Current(milliseconds patience, std::string* reason) {
  const auto deadline = steady_clock::now() + patience;
  base::MutexLock lock(mutex_);
  while ((worker_ == nullptr || worker_->ended()) && !stop_) {
    if ((worker_ == nullptr && !restarting_) || !changed_.WaitUntil(lock, deadline)) {
      break;
    }
  }
  if (worker_ != nullptr && !worker_->ended()) {
    return worker_;
  }
  *reason =
      reason_.empty() ? "Stub process '" + settings_.loop.name + "' is not healthy." : reason_;
  return nullptr;
}

Error Supervisor::CheckReady() {
  std::string reason;
  const std::shared_ptr<Worker> worker = Current(milliseconds{0}, &reason);
  if (worker == nullptr) {
    return Error::Internal(reason);
  }
  if (!worker->has_is_ready) {
    return {};
  }
  Error answer = AnswerOf(worker.get());
  if (!answer.ok()) {
    NEREID_BACKEND_LOG(VERBOSE, answer.message());
  }
  return answer;
}

void Supervisor::Ask(Worker* worker) {
  question_ = std::make_shared<ReadyAnswer>();
  std::vector<char> message;
  WireWriter out(&message);
  WriteHeader(&out, MessageType::kAskReady, ++question_id_, {});
  worker->call.Post(std::move(message), {}, true);
}

Error Supervisor::AnswerOf(Worker* worker) {
  const auto deadline = steady_clock::now() + kReadyLimit;
  base::MutexLock lock(mutex_);
  const bool first = question_ == nullptr;
  if (first) {
    Ask(worker);
  }
  const std::shared_ptr<ReadyAnswer> question = question_;
  while (!question->done && changed_.WaitUntil(lock, deadline)) {
  }
  if (question->done) {
    return ErrorOf(*question);
  }
  return {TRITONSERVER_ERROR_UNAVAILABLE,
          first ? "Timed out waiting for user-defined is_ready() response"
                : "Timed out waiting for in-flight is_ready() response"};
}

Error Supervisor::ErrorOf(const ReadyAnswer& answer) const {
  if (answer.ok) {
    return {};
  }
  return answer.text.empty()
             ? Error(TRITONSERVER_ERROR_UNAVAILABLE, "Model '" + settings_.loop.name +
                                                         "' is not ready (user-defined check "
                                                         "failed).")
             : Error::Internal(answer.text);
}

void Supervisor::Answered(uint64_t id, const WireDone& answer) {
  const base::MutexLock lock(mutex_);
  if (question_ == nullptr || id != question_id_) {
    return;
  }
  question_->done = true;
  question_->ok = answer.ok;
  question_->text = std::string(answer.text);
  question_ = nullptr;
  changed_.NotifyAll();
}

}  // namespace nereid::python
