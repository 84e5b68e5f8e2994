// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "api/health.h"

namespace nereid::api::testing {

/// A health for the tests of front ends: answers with its members. Change them before requests
/// arrive.
class FakeHealth final : public Health {
 public:
  Readiness ExplainServer() override { return server; }
  Readiness ExplainModel(const std::string& name, int64_t version) override {
    asked = name + ":" + std::to_string(version);
    return model;
  }
  Liveness ExplainLiveness() override { return live; }
  DrainReport Drain() override { return drain; }
  base::Result<DrainReport> ChangeDrain(const DrainChange& change) override {
    if (!refusal.ok()) return refusal;
    drain.draining = change.drain;
    drain.left_ns = std::nullopt;
    if (change.drain && change.seconds) drain.left_ns = uint64_t{*change.seconds} * 1'000'000'000;
    return drain;
  }

  Readiness server;
  Readiness model;
  Liveness live;
  std::string asked;  // the model and version of the last question
  DrainReport drain;
  base::Status refusal;  // of changes of the drain
};

}  // namespace nereid::api::testing
