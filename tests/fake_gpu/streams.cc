// SPDX-License-Identifier: Apache-2.0
#include "streams.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "settings.h"

namespace nereid::fake_gpu {
namespace {

thread_local bool in_host_function = false;

}  // namespace

bool InHostFunction() { return in_host_function; }

Operation HostFunction(device::CuHostFunction function, void* argument) {
  return [function, argument] {
    in_host_function = true;
    function(argument);
    in_host_function = false;
  };
}

void Stream::Start() {
  std::thread([self = shared_from_this()] { self->Run(); }).detach();
}

void Stream::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void Stream::Run() {
  const std::chrono::microseconds delay(Settings::Get().delay_us);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopped_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Operation operation = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    operation();
    lock.lock();
    busy_ = false;
    if (queue_.empty()) changed_.notify_all();
  }
}

void Stream::Add(Operation operation) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (capture_ != nullptr) {
    capture_->push_back(std::move(operation));
    return;
  }
  queue_.push_back(std::move(operation));
  changed_.notify_all();
}

bool Stream::Idle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return queue_.empty() && !busy_;
}

void Stream::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !busy_; });
}

Recording Stream::capture() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return capture_;
}

void Stream::set_capture(Recording capture) {
  const std::lock_guard<std::mutex> lock(mutex_);
  capture_ = std::move(capture);
}

void Event::Record(const std::shared_ptr<Event>& self, Stream& stream) {
  const Recording capture = stream.capture();
  uint64_t version = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    capture_ = capture;
    if (capture == nullptr) version = ++recorded_;
  }
  if (capture == nullptr) stream.Add([self, version] { self->Complete(version); });
}

// A stream that waits for an event of a captured stream is captured with it, as in CUDA. The order
// of the recording then has the wait already.
void Event::WaitIn(const std::shared_ptr<Event>& self, Stream& stream) {
  uint64_t version = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (Recording capture = capture_.lock()) {
      if (stream.capture() == nullptr) stream.set_capture(std::move(capture));
      return;
    }
    version = recorded_;
  }
  stream.Add([self, version] { self->WaitFor(version); });
}

void Event::Complete(uint64_t version) {
  const std::lock_guard<std::mutex> lock(mutex_);
  completed_ = std::max(completed_, version);
  time_ = std::chrono::steady_clock::now();
  changed_.notify_all();
}

void Event::WaitFor(uint64_t version) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return completed_ >= version; });
}

bool Event::Done() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return completed_ >= recorded_;
}

void Event::Wait() {
  uint64_t version = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    version = recorded_;
  }
  WaitFor(version);
}

std::chrono::steady_clock::time_point Event::time() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return time_;
}

}  // namespace nereid::fake_gpu
