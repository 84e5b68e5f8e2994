// SPDX-License-Identifier: Apache-2.0
#include "rollout/rollout_plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/parse_number.h"

namespace nereid::rollout {

using base::Status;

namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool IsLabelCharacter(char c) {
  return IsLetter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/// Returns a text of a client as it may stand in an error: quoted, and not longer than a line.
std::string Shown(std::string_view text) {
  constexpr size_t kMaxShown = 80;
  std::string shown = "'" + std::string(text.substr(0, kMaxShown)) + "'";
  if (text.size() > kMaxShown) shown += "...";
  return shown;
}

std::string Range(uint64_t least, uint64_t most) {
  return "a number from " + std::to_string(least) + " to " + std::to_string(most);
}

Status CheckRange(std::string_view field, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return Status::Ok();
  return WrongField(field, std::to_string(value), Range(least, most));
}

Status CheckLabels(const RolloutPlan& plan) {
  if (plan.labels.size() > kMaxLabels) {
    return WrongField("labels", std::to_string(plan.labels.size()) + " labels",
                      std::to_string(kMaxLabels) + " at most");
  }
  std::set<std::string_view> names;
  for (const auto& [name, version] : plan.labels) {
    if (!IsLabel(name)) {
      return WrongField("labels", "the name " + Shown(name),
                        "a letter, then letters, digits, '.', '_' and '-', " +
                            std::to_string(kMaxLabelSize) + " characters at most");
    }
    const std::string field = "labels." + name;
    if (!names.insert(name).second) return WrongField(field, "there twice", "each name once");
    if (version < 0) return WrongField(field, std::to_string(version), "a version number");
  }
  return Status::Ok();
}

Status Complete(const RolloutPlan& plan, const std::string& field, Target* target) {
  if (const auto labeled = FindLabel(plan, target->text)) {
    target->version = *labeled;
    return Status::Ok();
  }
  const auto number = base::ParseWhole<int64_t>(target->text);
  if (!number || *number < 0) {
    return WrongField(field, Shown(target->text),
                      "a version number or one of the labels (" + LabelList(plan) + ")");
  }
  target->version = *number;
  return Status::Ok();
}

Status CompleteSplit(RolloutPlan* plan) {
  Split& split = *plan->split;
  if (split.weights.empty() || split.weights.size() > kMaxWeights) {
    return WrongField("split.weights", std::to_string(split.weights.size()) + " weights",
                      Range(1, kMaxWeights) + " of weights");
  }
  uint64_t sum = 0;
  std::set<int64_t> versions;
  for (Weight& weight : split.weights) {
    const std::string field = "split.weights." + weight.target.text;
    NEREID_RETURN_IF_ERROR(Complete(*plan, "split.weights", &weight.target));
    NEREID_RETURN_IF_ERROR(CheckRange(field, weight.parts, 0, kParts));
    if (!versions.insert(weight.target.version).second) {
      return WrongField(field, "version " + std::to_string(weight.target.version) + " once more",
                        "each version once");
    }
    sum += weight.parts;
  }
  if (sum == kParts) return Status::Ok();
  return WrongField("split.weights", std::to_string(sum) + " parts in all",
                    std::to_string(kParts) + " parts in all");
}

Status CheckTolerances(const Tolerances& tolerances) {
  for (const auto& [type, tolerance] : tolerances) {
    const std::string field = "shadow.tolerances." + std::string(tensor::DataTypeName(type));
    using tensor::DataType;
    if (type == DataType::kInvalid || type == DataType::kBytes || type == DataType::kBool) {
      return WrongField(field, "there", "a data type of numbers, such as FP32");
    }
    for (const double value : {tolerance.absolute, tolerance.relative}) {
      if (std::isfinite(value) && value >= 0) continue;
      return WrongField(field, std::to_string(value), "finite numbers that are at least 0");
    }
  }
  return Status::Ok();
}

Status CompleteShadow(RolloutPlan* plan) {
  Shadow& shadow = *plan->shadow;
  NEREID_RETURN_IF_ERROR(Complete(*plan, "shadow.version", &shadow.target));
  NEREID_RETURN_IF_ERROR(CheckRange("shadow.parts", shadow.parts, 1, kParts));
  NEREID_RETURN_IF_ERROR(
      CheckRange("shadow.max_in_flight", shadow.max_in_flight, 1, kMaxShadowsInFlight));
  return CheckTolerances(shadow.tolerances);
}

Status CompleteRollback(RolloutPlan* plan) {
  Rollback& rule = *plan->rollback;
  NEREID_RETURN_IF_ERROR(Complete(*plan, "rollback.version", &rule.target));
  NEREID_RETURN_IF_ERROR(
      CheckRange("rollback.window_seconds", rule.window_seconds, 1, kMaxWindowSeconds));
  NEREID_RETURN_IF_ERROR(
      CheckRange("rollback.min_requests", rule.min_requests, 1, kMaxMinRequests));
  if (!rule.max_error_parts && !rule.max_latency_us) {
    return WrongField("rollback", "without a bound", "max_error_parts, max_latency_us or both");
  }
  if (rule.max_error_parts) {
    NEREID_RETURN_IF_ERROR(
        CheckRange("rollback.max_error_parts", *rule.max_error_parts, 0, kParts - 1));
  }
  if (rule.max_latency_us) {
    NEREID_RETURN_IF_ERROR(
        CheckRange("rollback.max_latency_us", *rule.max_latency_us, 1, kMaxLatencyUs));
  }
  return CheckRange("rollback.latency_parts", rule.latency_parts, 1, kParts);
}

}  // namespace

bool IsLabel(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLabelSize && IsLetter(text.front()) &&
         std::all_of(text.begin(), text.end(), IsLabelCharacter);
}

Status WrongField(std::string_view field, std::string_view found, std::string_view expected) {
  std::string text = "the field '";
  text.append(field).append("' is ").append(found);
  return Status::InvalidArgument(text.append("; expected ").append(expected));
}

Status CompletePlan(RolloutPlan* plan) {
  NEREID_RETURN_IF_ERROR(CheckLabels(*plan));
  if (plan->split) NEREID_RETURN_IF_ERROR(CompleteSplit(plan));
  if (plan->shadow) NEREID_RETURN_IF_ERROR(CompleteShadow(plan));
  if (plan->rollback) NEREID_RETURN_IF_ERROR(CompleteRollback(plan));
  return Status::Ok();
}

std::optional<int64_t> FindLabel(const RolloutPlan& plan, std::string_view label) {
  for (const auto& [name, version] : plan.labels) {
    if (name == label) return version;
  }
  return std::nullopt;
}

std::string LabelList(const RolloutPlan& plan) {
  std::set<std::string_view> names;
  for (const auto& [name, version] : plan.labels) names.insert(name);
  std::string list;
  for (const std::string_view name : names) {
    list.append(list.empty() ? "'" : ", '").append(name).append("'");
  }
  return list.empty() ? "none" : list;
}

namespace {

constexpr std::string_view kParameterPrefix = "parameter:";
constexpr std::string_view kHeaderPrefix = "header:";

}  // namespace

std::string SplitKeyText(const Split& split) {
  switch (split.key) {
    case SplitKey::kRequest:
      return "request";
    case SplitKey::kSequence:
      return "sequence";
    case SplitKey::kParameter:
      return std::string(kParameterPrefix) + split.key_name;
    case SplitKey::kHeader:
      return std::string(kHeaderPrefix) + split.key_name;
  }
  return {};
}

bool ParseSplitKey(std::string_view text, Split* split) {
  split->key_name.clear();
  if (text == "request" || text == "sequence") {
    split->key = text == "request" ? SplitKey::kRequest : SplitKey::kSequence;
    return true;
  }
  std::string_view prefix = kParameterPrefix;
  split->key = SplitKey::kParameter;
  if (text.starts_with(kHeaderPrefix)) {
    prefix = kHeaderPrefix;
    split->key = SplitKey::kHeader;
  }
  if (!text.starts_with(prefix)) return false;
  split->key_name = text.substr(prefix.size());
  return !split->key_name.empty() && split->key_name.size() <= kMaxKeyNameSize;
}

}  // namespace nereid::rollout
