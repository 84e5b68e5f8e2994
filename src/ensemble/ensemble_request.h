// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
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
  /// Called once, before the final response is sent.
  virtual void OnAnswer(const request::InferenceRequest& request, const base::Status& outcome) = 0;
  /// Called after a request that succeeded, when every step has released its request. `times` is
  /// the sum over all steps. The last step often reports its times after its response.
  virtual void OnEnd(const request::InferenceRequest& request,
                     const request::ComputeTimes& times) = 0;
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
/// follows from the event.
///
/// Locks, in the order in which a thread takes them:
///
///     the Cancellation of the client's request  →  mutex_  →  the lock of a StepLimit
///
/// The first arrow is OnCancelled; so SetListener is never called under mutex_. The second is
/// FailLocked, which calls StepLimit::Withdraw. mutex_ is not held while a member, the client's
/// sink, the cancellation of a step, or StepLimit::Acquire and Release are called.
///
/// One thread at a time drives the request (Drive). An event that another thread brings meanwhile,
/// or that comes from inside a call of the driving thread (a member that answers at once), only
/// changes the run; the driving thread continues with it. So the stack does not grow with the
/// number of steps.
///
/// Ownership of bytes: the ensemble's inputs are views of the client's request, which is therefore
/// kept until every step has released its own request. An output moves from the response of a
/// member into an EnsembleTensor, which the requests of later steps (InferenceRequest::Hold) and
/// the client's response (LendOutput) share.
class EnsembleRequest final : public StepWaiter,
                              private request::CancellationListener,
                              public std::enable_shared_from_this<EnsembleRequest> {
 public:
  /// Starts a bound, normalized request. The request is answered in any case. `members` are those
  /// of ensemble::FindMembers; empty: the request finds them.
  static void Start(const EnsembleParts& parts, std::unique_ptr<request::InferenceRequest> request,
                    std::vector<Member> members = {});

  /// For Start; other code calls that function.
  EnsembleRequest(const EnsembleParts& parts, std::unique_ptr<request::InferenceRequest> request,
                  std::vector<Member> members);

  void OnTurn(EnsembleRun::StepStart start) override NEREID_EXCLUDES(mutex_);

 private:
  /// The longest time for which Drive uses a thread that must not block.
  static constexpr uint64_t kMaxTurnNs = 1'000'000;

  class StepSink;

  /// How far the answer to the client is. Transitions:
  ///
  ///     kRunning  → kAnswered  the final response or the error is about to be sent
  ///     kAnswered → kRunning   the final response could not be made; an error follows
  ///     kAnswered → kFinished  every step has ended and released its request: no event can come
  enum class Phase { kRunning, kAnswered, kFinished };

  /// Whether a thread drives the request. kLentThread: it does, and it may execute cheap models.
  enum class Driver { kNone, kThread, kLentThread };

  void Begin() NEREID_EXCLUDES(mutex_);
  /// Finds the members, or returns the error of the step whose member is not served.
  base::Status TakeMembers();

  // Events. Called without mutex_; those of steps by StepSink.
  void OnStepResponse(const StepSink& step, std::unique_ptr<request::InferenceResponse> response,
                      bool final) NEREID_EXCLUDES(mutex_);
  void OnStepReleased() NEREID_EXCLUDES(mutex_);
  void OnCancelled() noexcept override NEREID_EXCLUDES(mutex_);
  /// Fails a cancelled request whose starts all wait in StepLimits.
  void CancelWaiting() NEREID_EXCLUDES(mutex_);
  /// Continues after a turn that was too long.
  void Continue() NEREID_EXCLUDES(mutex_);

  /// Does all that is due, as `driver`, unless another thread or a caller on this thread is doing
  /// it. On a thread that must not block (an event loop, the timers' thread) it stops after
  /// kMaxTurnNs and leaves the rest to the timers' thread.
  void Drive(Driver driver = Driver::kThread) NEREID_REQUIRES(mutex_);
  /// Does one of the four things below if it is due; returns false if nothing is.
  bool DriveOnce() NEREID_REQUIRES(mutex_);

  // What can be due. Each function releases mutex_ meanwhile and returns with it.

  /// Sends a response of the run to the client.
  void SendResponse(EnsembleRun::Response values) NEREID_REQUIRES(mutex_);
  /// Starts a step, or leaves the start in the step's limit.
  void BeginStep(EnsembleRun::StepStart start) NEREID_REQUIRES(mutex_);
  /// Sends the client the error of a run that is over, or the final flag alone.
  void Answer() NEREID_REQUIRES(mutex_);
  /// Reports the times to the observer and releases the client's request.
  void Finish() NEREID_REQUIRES(mutex_);

  /// Submits the request of a step, which counts in the step's limit.
  void StartStep(EnsembleRun::StepStart start, bool may_run_inline) NEREID_EXCLUDES(mutex_);
  /// Returns whether an output of a step stays in GPU memory if the member prefers that: all models
  /// that read it are on GPUs and, if the client requests it, the client's sink takes it there.
  bool KeepsOnGpu(size_t step, std::string_view output) const;
  bool ClientTakesGpu(const std::string& output) const;
  const std::string& ModelOf(size_t step) const { return parts_.plan.steps()[step].model; }
  /// Returns the step's outputs as tensors of the run. Returns INTERNAL if an output does not have
  /// the shape that the member's configuration gives.
  base::Result<std::vector<TensorPtr>> TakeOutputs(const StepSink& step,
                                                   request::InferenceResponse& response);
  /// Makes the client's response and sends it, or returns the reason why it cannot.
  base::Status Respond(const EnsembleRun::Response& values, bool final) NEREID_EXCLUDES(mutex_);

  /// Fails the run, once, and takes this request's waiting starts back from the StepLimits.
  void FailLocked(base::Status error) NEREID_REQUIRES(mutex_);
  /// Returns a step's error as the client sees it: "in ensemble 'e', …" and which step it was.
  base::Status InStep(size_t step, const base::Status& error) const;
  base::Status CancelledError() const;
  /// Returns the error of a run that is over without a response and without a failure.
  base::Status StuckError() const NEREID_REQUIRES(mutex_);

  const EnsembleParts parts_;
  const request::ModelIdentity& model_;
  // Keeps parts_ and model_ alive; null until Finish, while request_ does so.
  std::shared_ptr<const request::ModelIdentity> kept_ NEREID_GUARDED_BY(mutex_);
  std::vector<size_t> outputs_;                         // the requested tensors, each once
  const std::shared_ptr<request::ComputeTimes> times_;  // of all steps
  std::vector<Member> members_;  // by step, null if not needed; constant after Begin
  // The client's request, owned until Finish. Constant after Begin, so any thread may read it.
  std::unique_ptr<request::InferenceRequest> request_;

  base::Mutex mutex_;
  EnsembleRun run_ NEREID_GUARDED_BY(mutex_);
  // The cancellations of the steps' requests that are in progress, by StepStart::id.
  std::unordered_map<size_t, std::shared_ptr<request::Cancellation>> active_
      NEREID_GUARDED_BY(mutex_);
  // How many requests of steps the members still hold.
  size_t unreleased_ NEREID_GUARDED_BY(mutex_) = 0;
  Phase phase_ NEREID_GUARDED_BY(mutex_) = Phase::kRunning;
  Driver driver_ NEREID_GUARDED_BY(mutex_) = Driver::kNone;
};

}  // namespace nereid::ensemble
