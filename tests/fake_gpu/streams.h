// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "device/cuda_api.h"

namespace nereid::fake_gpu {

using Operation = std::function<void()>;

/// The operations of a graph, in the order in which they were recorded.
using Recording = std::shared_ptr<std::vector<Operation>>;

/// A queue of operations that a thread of its own executes in order. Thread-safe.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(int device) : device_(device) {}

  int device() const { return device_; }
  /// Starts the thread. It ends after the work that is queued when Stop was called.
  void Start();
  void Stop();

  /// Queues an operation, or records it while the stream is captured.
  void Add(Operation operation);
  bool Idle();
  void Wait();

  Recording capture();
  void set_capture(Recording capture);

 private:
  void Run();

  const int device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  Recording capture_;
  bool busy_ = false;
  bool stopped_ = false;
};

/// A point in a stream. Thread-safe.
class Event {
 public:
  explicit Event(int device) : device_(device) {}

  int device() const { return device_; }
  /// Adds the point to the stream.
  void Record(const std::shared_ptr<Event>& self, Stream& stream);
  /// Makes the stream wait for the point that was recorded last.
  void WaitIn(const std::shared_ptr<Event>& self, Stream& stream);
  bool Done();
  void Wait();
  /// Returns when the point was reached.
  std::chrono::steady_clock::time_point time();

 private:
  void Complete(uint64_t version);
  void WaitFor(uint64_t version);

  const int device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t recorded_ = 0;
  uint64_t completed_ = 0;
  std::weak_ptr<std::vector<Operation>> capture_;
  std::chrono::steady_clock::time_point time_;
};

/// Tells whether the calling thread executes a host function of a stream, which must not call CUDA.
bool InHostFunction();
/// Returns the operation that calls a host function.
Operation HostFunction(device::CuHostFunction function, void* argument);

}  // namespace nereid::fake_gpu
