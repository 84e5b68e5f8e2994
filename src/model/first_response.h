// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "config/model_config.h"
#include "request/inference_request.h"
#include "telemetry/instruments.h"

namespace nereid::model {

/// Returns the upper bounds, in milliseconds, of a model's histogram of first responses: the last
/// ones that model_metrics gives for the family, else 100, 500, 2000, 5000. Bounds that do not
/// ascend are ignored (the rule advice.buckets warns of them).
std::vector<double> FirstResponseBuckets(const config::ModelConfig& config);

/// Measures how long the requests of one model wait for their first response of any kind: the only
/// response, the first of several, an error, or a response from the cache. The time is whole
/// milliseconds from the request's start_ns until the response goes to the front end, one sample
/// per request. A request that ends with the final flag alone, or is refused at submission, gives
/// no sample. Thread-safe.
class FirstResponseTimes {
 public:
  /// The clock must outlive the watched requests; this object need not.
  FirstResponseTimes(const base::Clock& clock, std::vector<double> buckets);

  /// Measures a request, which must be bound. Must be called before other sinks are wrapped around
  /// the front end's sink, so that the time includes what they add (response order, cache).
  void Watch(request::InferenceRequest& request) const;

  telemetry::HistogramSnapshot Snapshot() const { return histogram_->Snapshot(); }

 private:
  const base::Clock& clock_;
  const std::shared_ptr<telemetry::Histogram> histogram_;
};

}  // namespace nereid::model
