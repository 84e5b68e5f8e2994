// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ensemble/ensemble_plan.h"

namespace nereid::ensemble {

/// The content of a tensor and whatever keeps it alive; opaque to the run.
class TensorValue {
 public:
  virtual ~TensorValue() = default;
};
using TensorPtr = std::shared_ptr<const TensorValue>;

/// The state of one request in an ensemble: which tensors exist, which steps may start, when a
/// response is complete, and when everything is over. Has neither clock, threads nor models: the
/// owner reports events and takes the steps and responses that are due. Not thread-safe.
///
/// Every tensor has an iteration number. Tensors before any decoupled step are made once, as
/// iteration 0, and belong to every iteration. A decoupled step numbers its responses in order of
/// arrival; the steps after it run once for each. Every event takes logarithmic time in the number
/// of responses in progress.
class EnsembleRun {
 public:
  /// A step to start with these tensors, in the order of the step's inputs. Null: the tensor is
  /// absent (an optional input that was not sent, or an output that a model omitted).
  struct StepStart {
    size_t id = 0;  // identifies the start in OnResponse and OnFinished
    size_t step = 0;
    std::vector<TensorPtr> inputs;
  };
  /// The tensors of a response, in the order of the requested outputs; null: absent.
  using Response = std::vector<TensorPtr>;

  /// `outputs` are the tensors that the client asked for. The plan must outlive the run.
  EnsembleRun(const EnsemblePlan& plan, std::vector<size_t> outputs);

  /// Sets the ensemble's inputs as (tensor, value); other inputs are absent. Must be called once,
  /// first.
  void Begin(const std::vector<std::pair<size_t, TensorPtr>>& inputs);

  /// Returns the next step to start, or nothing if no step is ready. The step counts as running
  /// until OnFinished.
  std::optional<StepStart> TakeStart();

  /// Records a response of the running step `id`. `outputs` are in the order of the step's outputs;
  /// null: absent. Returns INTERNAL for the second response of a step that is not decoupled; the
  /// caller must fail the run then.
  base::Status OnResponse(size_t id, std::vector<TensorPtr> outputs);
  /// Records that the running step `id` sends no further response.
  void OnFinished(size_t id);
  /// Ends the run with its first error: no further step starts, no response is given, and tensors
  /// are dropped. Running steps must still be reported as finished.
  void Fail(base::Status error);

  /// Returns a complete response, or nothing. An ensemble that is not decoupled gives its response
  /// when the run is over.
  std::optional<Response> TakeResponse();

  /// Returns whether another response is complete.
  bool HasResponse() const { return !responses_.empty(); }

  const base::Status& error() const { return error_; }
  bool failed() const { return !error_.ok(); }
  size_t running() const { return running_.size(); }
  /// Returns whether nothing runs and nothing will. TakeResponse and error() are final then.
  bool IsOver() const { return begun_ && running_.empty() && ready_.empty(); }
  /// Returns, for a run that is over without a failure, whether the response is missing because a
  /// step ended without one.
  bool IsStuck() const;
  /// Returns a needed step that could run but never answered; kNoStep if there is none.
  int SilentStep() const;
  /// Returns how many tensors the run keeps alive.
  size_t held_tensors() const;

 private:
  struct Running {
    size_t step = 0;
    uint64_t iteration = 0;
    bool answered = false;
  };
  struct Ready {
    StepStart start;
    uint64_t iteration = 0;
  };
  /// A tensor in one iteration.
  struct Slot {
    TensorPtr value;
    size_t readers = 0;  // consumers that have not read it yet
  };
  /// A tensor of the plan.
  struct TensorState {
    std::map<uint64_t, Slot> slots;  // by iteration
    size_t readers = 0;              // consumers in each iteration
    bool is_kept = false;            // made once and read in every iteration: kept to the end
    bool requested = false;
  };

  /// Stores a tensor, and makes steps ready and responses complete that lacked only this tensor.
  void Put(size_t tensor, uint64_t iteration, TensorPtr value);
  /// Calls visit(k) for each iteration k that the new tensor may have completed, for a step or a
  /// response that needs the tensors `others`.
  template <typename Visit>
  void ForIterations(size_t tensor, uint64_t iteration, const std::vector<size_t>& others,
                     Visit visit);
  void StartIfReady(size_t step, uint64_t iteration);
  void RespondIfComplete(uint64_t iteration);
  /// Returns the tensor of an iteration, or null if it does not exist yet.
  Slot* Find(size_t tensor, uint64_t iteration);
  /// Returns the tensor for one consumer and drops the run's reference after the last one.
  TensorPtr Read(size_t tensor, uint64_t iteration);
  Running* FindRunning(size_t id);
  bool Repeats(size_t tensor) const { return plan_.tensors()[tensor].origin != kNoStep; }

  const EnsemblePlan& plan_;
  const std::vector<size_t> outputs_;
  const std::vector<bool> needed_;  // by step
  std::vector<TensorState> tensors_;
  std::vector<uint64_t> next_iteration_;         // by step; used for decoupled steps
  std::vector<bool> answered_;                   // by step
  std::unordered_map<size_t, Running> running_;  // by id
  std::deque<Ready> ready_;
  std::deque<Response> responses_;
  size_t next_id_ = 0;
  bool begun_ = false;
  bool responded_ = false;  // a response has been complete
  base::Status error_;
};

}  // namespace nereid::ensemble
