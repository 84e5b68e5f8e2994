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

/// A tensor that exists: what it is, and what keeps it alive. The run knows none of it.
class TensorValue {
 public:
  virtual ~TensorValue() = default;
};
using TensorPtr = std::shared_ptr<const TensorValue>;

/// One request on its way through an ensemble: which tensors exist, which steps may start, when a
/// response is complete, when all is over. Knows neither time nor threads nor models: whoever
/// drives it reports what happens and takes what is to be done. Not thread-safe.
///
/// Every tensor has a number of iteration. What comes before any decoupled step is made once, as
/// iteration 0, and is there for every iteration; a decoupled step numbers its responses as they
/// come, and the steps behind it run once for each. Any event takes logarithmic time in the number
/// of responses that are under way.
class EnsembleRun {
 public:
  /// A step to be started with these tensors, in the order of the step's inputs. Null stands for a
  /// tensor that is absent: an optional input that was not given, an output that a model left out.
  struct StepStart {
    size_t id = 0;  // names it in what is reported
    size_t step = 0;
    std::vector<TensorPtr> inputs;
  };
  /// The tensors of a response, in the order of the requested outputs; null for those that are
  /// absent.
  using Response = std::vector<TensorPtr>;

  /// `outputs`: the tensors that the client asks for. The plan must outlive the run.
  EnsembleRun(const EnsemblePlan& plan, std::vector<size_t> outputs);

  /// The ensemble's inputs, by tensor; inputs that are not listed are absent. Once, first.
  void Begin(const std::vector<std::pair<size_t, TensorPtr>>& inputs);

  /// Next step to be started; nothing if none is ready. A step that was taken counts as running
  /// until it is reported as finished.
  std::optional<StepStart> TakeStart();

  /// The running step `id` has answered; `outputs` in the order of the step's outputs, null for
  /// what is absent. INTERNAL, and a failure of the run, for the second response of a step that is
  /// not decoupled.
  base::Status OnResponse(size_t id, std::vector<TensorPtr> outputs);
  /// The running step `id` will not answer any more.
  void OnFinished(size_t id);
  /// The first failure ends the run: nothing more is started, no response is given, tensors are let
  /// go. Steps that run are waited for.
  void Fail(base::Status error);

  /// A complete response of a decoupled ensemble, or the one of another; nothing if there is none.
  std::optional<Response> TakeResponse();

  /// Whether another response is complete.
  bool HasResponse() const { return !responses_.empty(); }

  const base::Status& error() const { return error_; }
  bool failed() const { return !error_.ok(); }
  size_t running() const { return running_.size(); }
  /// Nothing runs and nothing more will: what TakeResponse and error() say is final.
  bool IsOver() const { return begun_ && running_.empty() && ready_.empty(); }
  /// At the end of a run that did not fail: whether a response was due that was not given. A step
  /// has ended without an answer.
  bool IsStuck() const;
  /// A step that was needed and ran, or not even that, but never answered; kNoStep if there is none
  /// such.
  int SilentStep() const;
  /// Tensors that the run keeps alive.
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
  /// A tensor of one iteration.
  struct Slot {
    TensorPtr value;
    size_t readers = 0;  // that have not had it yet
  };
  /// A tensor of the plan.
  struct TensorState {
    std::map<uint64_t, Slot> slots;  // by iteration
    size_t readers = 0;              // of each iteration
    bool is_kept = false;            // made once, and read by every iteration: kept to the end
    bool requested = false;
  };

  void Put(size_t tensor, uint64_t iteration, TensorPtr value);
  /// Calls visit(k) for each iteration that the new tensor may have made complete, for a step or a
  /// response whose own tensors are `others`.
  template <typename Visit>
  void ForIterations(size_t tensor, uint64_t iteration, const std::vector<size_t>& others,
                     Visit visit);
  void StartIfReady(size_t step, uint64_t iteration);
  void RespondIfComplete(uint64_t iteration);
  Slot* Find(size_t tensor, uint64_t iteration);
  TensorPtr Read(size_t tensor, uint64_t iteration);
  Running* FindRunning(size_t id);
  bool Repeats(size_t tensor) const { return plan_.tensors()[tensor].origin != kNoStep; }

  const EnsemblePlan& plan_;
  const std::vector<size_t> outputs_;
  const std::vector<bool> needed_;  // by step
  std::vector<TensorState> tensors_;
  std::vector<uint64_t> next_iteration_;         // by step; of decoupled ones
  std::vector<bool> answered_;                   // by step
  std::unordered_map<size_t, Running> running_;  // by id
  std::deque<Ready> ready_;
  std::deque<Response> responses_;
  size_t next_id_ = 0;
  bool begun_ = false;
  bool responded_ = false;  // a response has become complete
  base::Status error_;
};

}  // namespace nereid::ensemble
