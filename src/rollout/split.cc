// SPDX-License-Identifier: Apache-2.0
#include "rollout/split.h"

#include <algorithm>
#include <random>
#include <string>
#include <variant>

#include "base/ascii_case.h"

namespace nereid::rollout {
namespace {

/// The finalizer of MurmurHash3.
uint64_t Mix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccd;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53;
  return value ^ (value >> 33);
}

std::string ValueText(const request::Parameter::Value& value) {
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  if (const auto* const number = std::get_if<int64_t>(&value)) return std::to_string(*number);
  if (const auto* const flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return std::to_string(std::get<double>(value));
}

/// Returns the key of a request; empty if it has none.
std::string KeyOf(const Split& split, const request::RequestFields& request) {
  if (split.key == SplitKey::kSequence) {
    const auto* const number = std::get_if<uint64_t>(&request.correlation_id);
    if (number != nullptr && *number == 0) return {};
    return request::CorrelationIdText(request.correlation_id);
  }
  for (const request::Parameter& parameter : request.parameters) {
    const bool same = split.key == SplitKey::kHeader
                          ? base::EqualsIgnoringCase(parameter.name, split.key_name)
                          : parameter.name == split.key_name;
    if (same) return ValueText(parameter.value);
  }
  return {};
}

/// Returns the candidate at a place among the parts of those that `counts`.
template <typename Counts>
std::optional<size_t> At(std::span<const Candidate> candidates, uint64_t place,
                         const Counts& counts) {
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!counts(candidates[i])) continue;
    if (place < candidates[i].parts) return i;
    place -= candidates[i].parts;
  }
  return std::nullopt;
}

}  // namespace

uint64_t HashKey(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return Mix(hash);
}

uint64_t PointOf(const Split& split, const request::RequestFields& request, uint64_t random) {
  if (split.key == SplitKey::kRequest) return random;
  const std::string key = KeyOf(split, request);
  return key.empty() ? random : HashKey(key);
}

std::optional<size_t> Choose(std::span<const Candidate> candidates, uint64_t point) {
  const auto first = At(candidates, point % kParts, [](const Candidate&) { return true; });
  if (first && candidates[*first].usable) return first;
  const auto usable = [](const Candidate& candidate) { return candidate.usable; };
  uint64_t total = 0;
  for (const Candidate& candidate : candidates) total += usable(candidate) ? candidate.parts : 0;
  if (total == 0) return std::nullopt;
  // Another hash of the point: its place among the parts is the same for all points of a share.
  return At(candidates, Mix(point + 1) % total, usable);
}

uint64_t RandomPoint() {
  thread_local uint64_t state = [] {
    std::random_device device;
    return (uint64_t{device()} << 32) ^ device();
  }();
  state += 0x9e3779b97f4a7c15;
  return Mix(state);
}

}  // namespace nereid::rollout
