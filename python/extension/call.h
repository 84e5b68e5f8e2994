// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "python/extension/engine.h"
#include "python/extension/received.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

class Waker;

/// An activity of a traced request.
struct TraceEvent {
  uint64_t trace_id;
  uint64_t parent_id;
  std::string model;
  const char* activity;
  uint64_t time_ns;  // of the steady clock
};

/// A response that has come. `response` is null for a final flag without a response.
struct Answer {
  std::shared_ptr<Received> response;
  bool final = false;
  bool lost = false;  // there was no memory to keep it
};

/// The most responses of a request that wait for Python, in number and in bytes of their outputs. A
/// program that does not read them would otherwise let them fill the memory.
inline constexpr size_t kMaxWaitingAnswers = size_t{1} << 14;
inline constexpr uint64_t kMaxWaitingBytes = uint64_t{256} << 20;

/// A request in the engine and its responses. The engine holds a reference from Submit() until the
/// final response has come and the request is released, so the object may be dropped at any time.
/// The memory of inputs belongs to Python objects, which the call keeps for the engine; they are
/// handed to the graveyard (graveyard.h) when the call ends, because only a Python thread may drop
/// them.
class Call : public std::enable_shared_from_this<Call> {
 public:
  /// Takes the ownership of `request`.
  Call(std::shared_ptr<Engine> engine, TRITONSERVER_InferenceRequest* request);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  TRITONSERVER_InferenceRequest* request() const { return request_; }
  const std::shared_ptr<Engine>& engine() const { return engine_; }
  uint64_t id() const { return id_; }

  /// Keeps an object whose reference the call takes over. Before Submit() only.
  void Keep(PyObject* owner) { owners_.push_back(owner); }
  /// Makes `waker` tell when responses come. Before Submit() only.
  void SetWaker(std::shared_ptr<Waker> waker) { waker_ = std::move(waker); }

  /// Sends the request, without the GIL. `trace_level` is 0 or bits of TRITONSERVER_TRACE_LEVEL_*.
  /// After an error no response comes.
  TRITONSERVER_Error* Submit(uint32_t trace_level);

  /// Waits for `time` at most, without the GIL, until a response can be taken. Returns whether one
  /// can.
  bool WaitForAnswer(std::chrono::milliseconds time);
  /// The same until the engine has released the request and sent its final response.
  bool WaitForEnd(std::chrono::milliseconds time);
  /// Returns the objects of Keep(), whose references the caller takes over. After WaitForEnd() has
  /// returned true only.
  std::vector<PyObject*> TakeOwners() { return std::exchange(owners_, {}); }
  /// Takes the next response, if one has come.
  bool Take(Answer* answer);
  /// Returns the activities of a traced request so far.
  std::vector<TraceEvent> TraceEvents();
  /// Asks the engine to cancel the request. May be called at any time.
  TRITONSERVER_Error* Cancel();

  /// Set while the waker lists the call. Used by the waker only.
  std::atomic<bool> listed{false};

 private:
  static void Answered(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* self);
  static void Released(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* self);
  static void Traced(TRITONSERVER_InferenceTrace* trace,
                     TRITONSERVER_InferenceTraceActivity activity, uint64_t time_ns, void* self);
  static void TraceReleased(TRITONSERVER_InferenceTrace* trace, void* self);
  /// Whether another response would exceed the limits above.
  bool IsFull(const Answer& answer) const NEREID_REQUIRES(mutex_);
  /// Adds a response. Of one that does not fit, and of all that follow it, only an error and the
  /// final flag are kept. Returns whether the request is to be cancelled.
  bool Push(Answer* answer) NEREID_REQUIRES(mutex_);
  /// Records a response, or the release of the request if `answer` is null, and tells who waits.
  void Update(Answer* answer);

  const std::shared_ptr<Engine> engine_;
  TRITONSERVER_InferenceRequest* const request_;
  const uint64_t id_;
  std::vector<PyObject*> owners_;
  std::shared_ptr<Waker> waker_;

  base::Mutex mutex_;
  base::ConditionVariable changed_;
  std::deque<Answer> answers_ NEREID_GUARDED_BY(mutex_);
  /// The bytes of the outputs in `answers_`.
  uint64_t waiting_bytes_ NEREID_GUARDED_BY(mutex_) = 0;
  /// Whether a response did not fit.
  bool overflowed_ NEREID_GUARDED_BY(mutex_) = false;
  bool lost_ NEREID_GUARDED_BY(mutex_) = false;
  bool final_ NEREID_GUARDED_BY(mutex_) = false;
  bool released_ NEREID_GUARDED_BY(mutex_) = false;
  std::vector<TraceEvent> trace_events_ NEREID_GUARDED_BY(mutex_);
  /// The engine's reference.
  std::shared_ptr<Call> self_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::python
