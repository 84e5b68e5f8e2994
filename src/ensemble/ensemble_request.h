// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/timer_queue.h"
#include "ensemble/ensemble_plan.h"
#include "ensemble/ensemble_run.h"
#include "ensemble/ensemble_tensor.h"
#include "ensemble/members.h"
#include "ensemble/step_limit.h"
#include "request/cancellation.h"
#include "request/inference_request.h"
#include "request/inference_response.h"

namespace nereid::ensemble {

/// Receives the ends of requests, for the statistics. Called on any thread, without a lock.
class EnsembleObserver {
 public:
  virtual ~EnsembleObserver() = default;
  /// Called when the request has been answered and every step has released its request. `times` is
  /// the sum over all steps.
  virtual void OnEnd(const request::InferenceRequest& request, const request::ComputeTimes& times,
                     const base::Status& outcome) = 0;
};

/// What all requests of an ensemble share. Outlives them.
struct EnsembleParts {
  const EnsemblePlan& plan;
  const MemberDirectory& members;
  std::vector<std::unique_ptr<StepLimit>>& limits;  // by step
  base::TimerQueue& timers;
  const base::Clock& clock;
  EnsembleObserver& observer;
};

/// Drives one request through an ensemble: sends the steps' requests to the members, reports their
/// responses to the EnsembleRun, and answers the client. It has no thread of its own: the thread
/// that brings an event (the submitting thread, or a member's thread with a response) does what
/// follows from it.
///
/// Locking: mutex_ guards the run and the members marked below. It is not held while a member, the
/// client's sink, a listener or a StepLimit's Acquire and Release are called. FailLocked calls
/// StepLimit::Withdraw under mutex_, so the order is mutex_, then the StepLimit's lock.
///
/// One thread at a time is in CarryOut. An event that another thread brings meanwhile, or that
/// comes from inside a call of CarryOut (a member that answers at once), only changes the run; the
/// thread in CarryOut continues with it. So the stack does not grow with the number of steps.
class EnsembleRequest final : public StepWaiter,
                              private request::CancellationListener,
                              public std::enable_shared_from_this<EnsembleRequest> {
 public:
  /// Starts a bound, normalized request. The request is answered in any case.
  static void Start(const EnsembleParts& parts, std::unique_ptr<request::InferenceRequest> request);

  /// For Start; other code calls that function.
  EnsembleRequest(const EnsembleParts& parts, std::unique_ptr<request::InferenceRequest> request);

  void OnTurn(EnsembleRun::StepStart start) override;

 private:
  static constexpr uint64_t kLongestTurnNs = 1'000'000;

  class StepSink;
  void Begin();
  base::Status FindMembers();
  void OnCancelled() noexcept override;

  // Events of the steps; see StepSink. Called without a lock.
  void OnStepResponse(const StepSink& step, std::unique_ptr<request::InferenceResponse> response,
                      bool final);
  void OnStepReleased();
  /// Returns the step's outputs as tensors of the run. Returns INTERNAL if an output does not have
  /// the shape that the member's configuration gives.
  base::Result<std::vector<TensorPtr>> TakeOutputs(const StepSink& step,
                                                   request::InferenceResponse& response);

  /// Does all that is due, unless another thread or a caller on this thread is doing it. On a
  /// thread that must not block (an event loop, the timers' thread) it stops after kLongestTurnNs
  /// and leaves the rest to the timers' thread.
  void CarryOut(std::unique_lock<std::mutex>& lock);
  /// Does one thing that is due; returns false if nothing is. Releases the lock meanwhile and
  /// returns with it.
  bool CarryOutOne(std::unique_lock<std::mutex>& lock);
  void StartStep(EnsembleRun::StepStart start, bool may_run_inline);
  /// Fails the run, once, and takes this request's waiting starts back from the StepLimits.
  void FailLocked(base::Status error);
  /// Returns a step's error as the client sees it: "in ensemble 'e', …" and which step it was.
  base::Status InStep(size_t step, const base::Status& error) const;
  /// Returns the error of a run that is over without a response and without a failure.
  base::Status StuckError() const;
  /// Sends the client a response, or returns the reason why it cannot.
  base::Status Respond(const EnsembleRun::Response& values, bool final);
  /// Reports the end to the observer and releases the client's request.
  void Finish(const base::Status& outcome);

  const EnsembleParts parts_;
  const std::shared_ptr<const request::ModelIdentity> model_;  // also keeps parts_ alive
  std::vector<size_t> outputs_;                                // the requested tensors, each once
  const std::shared_ptr<request::ComputeTimes> times_;         // of all steps
  std::vector<Member> members_;  // by step, null if not needed; constant after Begin
  // The client's request, owned until Finish. Constant after Begin, so any thread may read it.
  std::unique_ptr<request::InferenceRequest> request_;

  std::mutex mutex_;
  EnsembleRun run_;  // guarded by mutex_
  // The cancellations of the steps' requests that are in progress, by StepStart::id; guarded by
  // mutex_.
  std::unordered_map<size_t, std::shared_ptr<request::Cancellation>> active_;
  size_t unreleased_ = 0;      // guarded by mutex_: requests of steps that members still hold
  bool carrying_out_ = false;  // guarded by mutex_
  bool lends_thread_ = false;  // guarded by mutex_: the thread in CarryOut may execute cheap models
  bool answered_ = false;      // guarded by mutex_: the final response is sent or being sent
  bool finished_ = false;      // guarded by mutex_
};

}  // namespace nereid::ensemble
