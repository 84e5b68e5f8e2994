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

/// Is told how requests end. Implemented by whoever keeps the statistics. Any thread, no lock held.
class EnsembleObserver {
 public:
  virtual ~EnsembleObserver() = default;
  /// The request has been answered, and all steps have given theirs back.
  /// `times` is what all steps took together.
  virtual void OnEnd(const request::InferenceRequest& request, const request::ComputeTimes& times,
                     const base::Status& outcome) = 0;
};

/// What all requests of an ensemble work with. Outlives them.
struct EnsembleParts {
  const EnsemblePlan& plan;
  const MemberDirectory& members;
  std::vector<std::unique_ptr<StepLimit>>& limits;  // by step
  base::TimerQueue& timers;
  const base::Clock& clock;
  EnsembleObserver& observer;
};

/// Drives one request through an ensemble: hands the steps' requests to the members, reports what
/// comes back to the EnsembleRun, and answers. It has no thread of its own: whoever brings an event
/// (the sender of the request, a member that answers) does what follows from it.
///
/// mutex_ is not held while a member, the client's sink or a listener is called. One thread at a
/// time carries out what is due: an event that another thread brings meanwhile, or that comes from
/// inside a call (a member that answers at once), is left to that one. So no chain of steps,
/// however long, nests.
class EnsembleRequest final : public StepWaiter,
                              private request::CancellationListener,
                              public std::enable_shared_from_this<EnsembleRequest> {
 public:
  /// Takes a bound, normalised request and starts it. It is answered in any case.
  static void Start(const EnsembleParts& parts, std::unique_ptr<request::InferenceRequest> request);

  /// Use Start.
  EnsembleRequest(const EnsembleParts& parts, std::unique_ptr<request::InferenceRequest> request);

  void OnTurn(EnsembleRun::StepStart start) override;

 private:
  static constexpr uint64_t kLongestTurnNs = 1'000'000;

  class StepSink;
  void Begin();
  base::Status FindMembers();
  void OnCancelled() noexcept override;

  // Events of the steps; see StepSink.
  void OnStepResponse(const StepSink& step, std::unique_ptr<request::InferenceResponse> response,
                      bool final);
  void OnStepReleased();
  /// What the step's response means to the run. INTERNAL where a tensor has not the shape that the
  /// member's configuration gives it.
  base::Result<std::vector<TensorPtr>> TakeOutputs(const StepSink& step,
                                                   request::InferenceResponse& response);

  /// Does what is due, unless another thread, or a caller of this one, is at it. On a thread that
  /// others wait for (an event loop, the timers') no longer than kLongestTurnNs: the rest is for
  /// the timers' thread then.
  void CarryOut(std::unique_lock<std::mutex>& lock);
  /// One thing; false if nothing is due. Returns with the lock.
  bool CarryOutOne(std::unique_lock<std::mutex>& lock);
  void StartStep(EnsembleRun::StepStart start, bool may_run_inline);
  void FailLocked(base::Status error);
  /// A step's failure, as the client is told: "in ensemble 'e', …", and which step it was.
  base::Status InStep(size_t step, const base::Status& error) const;
  base::Status StuckError() const;
  /// Gives the client a response; what keeps it from that.
  base::Status Respond(const EnsembleRun::Response& values, bool final);
  void Finish(const base::Status& outcome);

  const EnsembleParts parts_;
  const std::shared_ptr<const request::ModelIdentity> model_;  // keeps parts_ as well
  std::vector<size_t> outputs_;                                // requested tensors, each once
  const std::shared_ptr<request::ComputeTimes> times_;         // of all steps
  std::vector<Member> members_;  // by step, null where it is not needed; fixed once begun
  // The client's; owned until the end. Its settings are read by any thread, and nobody writes.
  std::unique_ptr<request::InferenceRequest> request_;

  std::mutex mutex_;
  EnsembleRun run_;  // guarded by mutex_
  // The steps' requests that members have, by the ids of their starts; guarded by mutex_.
  std::unordered_map<size_t, std::shared_ptr<request::Cancellation>> active_;
  size_t unreleased_ = 0;      // guarded by mutex_: requests of steps that members still have
  bool carrying_out_ = false;  // guarded by mutex_
  bool lends_thread_ = false;  // guarded by mutex_: who carries out may run cheap models
  bool answered_ = false;      // guarded by mutex_: the final response is sent
  bool finished_ = false;      // guarded by mutex_
};

}  // namespace nereid::ensemble
