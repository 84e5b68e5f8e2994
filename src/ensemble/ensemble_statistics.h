// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ensemble/ensemble_request.h"
#include "model/statistics_shard.h"

namespace nereid::ensemble {

/// Counts the requests of an ensemble, each once: as a success with the times of all its steps, or
/// as a failure. The steps' models count their executions too. Thread-safe.
class EnsembleStatistics final : public EnsembleObserver {
 public:
  EnsembleStatistics(const base::Clock& clock, model::LatencyDetail detail)
      : statistics_(clock, detail) {}

  void OnAnswer(const request::InferenceRequest& request, const base::Status& outcome) override {
    if (!outcome.ok()) {
      const bool cancelled = outcome.code() == base::StatusCode::kCancelled;
      statistics_.AddRefusal(request, cancelled ? telemetry::FailureReason::kCanceled
                                                : telemetry::FailureReason::kOther);
      return;
    }
    // Counted as one execution, whose times follow. It begins when the request arrives, because an
    // ensemble has no queue.
    statistics_.AddAnswer(request);
  }
  void OnEnd(const request::InferenceRequest& request,
             const request::ComputeTimes& times) override {
    backend::ExecutionTimes sum;
    sum.exec_start_ns = request.times.queue_ns;
    sum.compute_start_ns = sum.exec_start_ns + times.input_ns;
    sum.compute_end_ns = sum.compute_start_ns + times.infer_ns;
    sum.exec_end_ns = sum.compute_end_ns + times.output_ns;
    statistics_.AddTimes(request, sum);
  }

  void MergeInto(telemetry::ModelStatistics* total) const { statistics_.MergeInto(total); }
  void MergeInto(telemetry::LatencySummaries* total) const { statistics_.MergeInto(total); }

 private:
  model::StatisticsShard statistics_;
};

}  // namespace nereid::ensemble
