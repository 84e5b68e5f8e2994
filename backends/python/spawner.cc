// SPDX-License-Identifier: Apache-2.0
#include "python/spawner.h"

#include "base/threads.h"

namespace nereid::python {

using backend::Error;

Error Spawner::Start() {
  base::Result<std::thread> started = base::StartThread("python_spawn", [this] { Run(); });
  if (!started.ok()) {
    return {TRITONSERVER_ERROR_UNAVAILABLE, started.status().message()};
  }
  thread_ = std::move(started).value();
  return {};
}

Spawner::~Spawner() {
  {
    const base::MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

Error Spawner::Spawn(const Command& command, Process* process) {
  Order order;
  order.command = &command;
  order.process = process;
  base::MutexLock lock(mutex_);
  while (order_ != nullptr) {
    changed_.Wait(lock);
  }
  order_ = &order;
  changed_.NotifyAll();
  while (!order.done) {
    changed_.Wait(lock);
  }
  return std::move(order.result);
}

void Spawner::Run() {
  base::MutexLock lock(mutex_);
  while (!stop_) {
    if (order_ == nullptr) {
      changed_.Wait(lock);
      continue;
    }
    Order* order = order_;
    lock.Unlock();
    Error result = backend::Catching([&] { return StartProcess(*order->command, order->process); });
    lock.Lock();
    order->result = std::move(result);
    order->done = true;
    order_ = nullptr;
    changed_.NotifyAll();
  }
}

}  // namespace nereid::python
