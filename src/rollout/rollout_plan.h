// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tensor/data_type.h"

namespace nereid::rollout {

/// Weights and shares are in parts of this number: 500 is 5 %.
inline constexpr uint32_t kParts = 10'000;

inline constexpr size_t kMaxLabels = 64;
inline constexpr size_t kMaxLabelSize = 64;
inline constexpr size_t kMaxWeights = 64;
inline constexpr size_t kMaxKeyNameSize = 256;
inline constexpr uint32_t kMaxWindowSeconds = 3600;
inline constexpr uint32_t kMaxMinRequests = 1'000'000;
inline constexpr uint64_t kMaxLatencyUs = 3'600'000'000;
inline constexpr uint32_t kMaxShadowsInFlight = 1024;

/// A version as a plan names it: by a number or by one of the plan's labels.
struct Target {
  std::string text;
  int64_t version = -1;  // set by CompletePlan

  bool operator==(const Target&) const = default;
};

/// By what a request without a version is assigned to a version.
enum class SplitKey {
  kRequest,    // at random
  kSequence,   // by the id of its sequence
  kParameter,  // by the value of a parameter
  kHeader,     // likewise; the name may differ in upper and lower case
};

struct Weight {
  Target target;
  uint32_t parts = 0;

  bool operator==(const Weight&) const = default;
};

/// How requests without a version are divided among versions.
struct Split {
  SplitKey key = SplitKey::kRequest;
  std::string key_name;  // of the parameter or header
  std::vector<Weight> weights;

  bool operator==(const Split&) const = default;
};

/// The difference up to which two numbers are equal: absolute + relative * |expected|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;

  bool operator==(const Tolerance&) const = default;
};
using Tolerances = std::map<tensor::DataType, Tolerance>;

/// Copies of requests go to a version whose answers no client sees.
struct Shadow {
  Target target;
  uint32_t parts = kParts;  // the share of the requests that are copied
  uint32_t max_in_flight = 16;
  Tolerances tolerances;  // other types must be equal bit by bit

  bool operator==(const Shadow&) const = default;
};

/// When a version gets no more requests.
struct Rollback {
  Target target;  // the candidate
  uint32_t window_seconds = 60;
  uint32_t min_requests = 20;  // in the window; with fewer, no rule fires
  /// Fires when more than this share of the requests in the window failed.
  std::optional<uint32_t> max_error_parts;
  /// Fires when more than kParts - latency_parts of the requests in the window took longer: when
  /// that quantile of their latencies exceeds it.
  std::optional<uint64_t> max_latency_us;
  uint32_t latency_parts = 9'900;
  /// Whether requests for a label of the candidate then go where requests without a version go.
  bool redirects_labels = true;
  /// Whether requests of sequences that are open on the candidate are then refused.
  bool ends_sequences = true;
  /// Whether a request that the candidate refuses as invalid counts as failed.
  bool counts_invalid = false;

  bool operator==(const Rollback&) const = default;
};

/// What a model's rollout does. A value; CompletePlan makes it valid.
struct RolloutPlan {
  std::vector<std::pair<std::string, int64_t>> labels;
  std::optional<Split> split;
  std::optional<Shadow> shadow;
  std::optional<Rollback> rollback;

  bool operator==(const RolloutPlan&) const = default;
};

/// Returns whether `text` has the form of a label, so that it can be no version number: a letter,
/// then letters, digits, '.', '_' and '-', kMaxLabelSize characters at most.
bool IsLabel(std::string_view text);

/// Returns INVALID_ARGUMENT "the field '<field>' is <found>; expected <expected>".
base::Status WrongField(std::string_view field, std::string_view found, std::string_view expected);

/// Checks a plan and sets the version of each Target. Returns INVALID_ARGUMENT with the first field
/// that is wrong, its value and the values that are expected.
base::Status CompletePlan(RolloutPlan* plan);

/// Returns the version of a label; nothing for an unknown one.
std::optional<int64_t> FindLabel(const RolloutPlan& plan, std::string_view label);

/// Returns the labels as "'canary', 'stable'"; "none" without labels.
std::string LabelList(const RolloutPlan& plan);

/// Returns "request", "sequence", "parameter:<name>" or "header:<name>".
std::string SplitKeyText(const Split& split);
/// Reads such a text. Returns false for another one, or for a name that is empty or too long.
bool ParseSplitKey(std::string_view text, Split* split);

}  // namespace nereid::rollout
