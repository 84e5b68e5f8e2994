// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "config/model_config.h"
#include "request/inference_request.h"
#include "telemetry/instruments.h"

namespace nereid::model {

/// The upper bounds, in milliseconds, of a model's histogram of first responses: the last ones that
/// model_metrics gives for the family, else 100, 500, 2000, 5000. Bounds that do not ascend count
/// as none (the rule advice.buckets names them in a warning).
std::vector<double> FirstResponseBuckets(const config::ModelConfig& config);

/// How long the requests of one model waited for their first response, whatever it was: an answer,
/// the first of several, an error, a response from the cache. Whole milliseconds from the request's
/// start_ns until the response goes to the front end, one sample for each request. A request that
/// ends with the final flag alone leaves none, nor does one that is refused on submission.
/// Thread-safe.
class FirstResponseTimes {
 public:
  /// The clock must outlive the requests that are watched; this object need not.
  FirstResponseTimes(const base::Clock& clock, std::vector<double> buckets);

  /// Takes note of the request's first response. The request is bound, and nobody has wrapped its
  /// factory's sink yet: what holds responses back (order) or adds them (cache) comes in front.
  void Watch(request::InferenceRequest& request) const;

  telemetry::HistogramSnapshot Snapshot() const { return histogram_->Snapshot(); }

 private:
  const base::Clock& clock_;
  const std::shared_ptr<telemetry::Histogram> histogram_;
};

}  // namespace nereid::model
