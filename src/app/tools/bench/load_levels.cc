// SPDX-License-Identifier: Apache-2.0
#include "app/tools/bench/load_levels.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

constexpr size_t kMaxLevels = 1'000;

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Returns the levels of a range, at most one more than is permitted; nothing for a wrong form.
std::optional<std::vector<double>> Range(const std::vector<std::string_view>& parts) {
  if (parts.size() > 3) return std::nullopt;
  const bool multiplies = parts.size() == 3 && parts[2].starts_with('x');
  const auto first = base::ParseWhole<double>(parts[0]), last = base::ParseWhole<double>(parts[1]);
  const auto step = parts.size() < 3
                        ? std::optional(1.0)
                        : base::ParseWhole<double>(parts[2].substr(multiplies ? 1 : 0));
  if (!first || !last || !step || *first > *last || !(*step > (multiplies ? 1 : 0))) {
    return std::nullopt;
  }
  std::vector<double> levels;
  // The tolerance is for steps that are no sums of powers of two.
  for (double level = *first; level <= *last * (1 + 1e-9) && levels.size() <= kMaxLevels;) {
    levels.push_back(level);
    level = multiplies ? level * *step : *first + *step * static_cast<double>(levels.size());
  }
  return levels;
}

std::optional<std::vector<double>> List(std::string_view text) {
  std::vector<double> levels;
  for (const std::string_view part : Split(text, ',')) {
    const auto level = base::ParseWhole<double>(part);
    if (!level) return std::nullopt;
    levels.push_back(*level);
  }
  return levels;
}

std::string Short(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

base::Result<std::vector<double>> ParseLevels(std::string_view flag, std::string_view text,
                                              double least, double most) {
  const auto ends = Split(text, ':');
  auto levels = ends.size() > 1 ? Range(ends) : List(text);
  const bool in_bounds = levels && std::all_of(levels->begin(), levels->end(), [&](double level) {
                           return level >= least && level <= most;
                         });
  if (in_bounds && levels->size() <= kMaxLevels) return std::move(*levels);
  return base::Status::InvalidArgument(
      "--" + std::string(flag) + " must be a number, a list such as 1,2,8, or a range such as " +
      "1:16:2 or 1:64:x2, from " + Short(least) + " to " + Short(most) + " with at most " +
      std::to_string(kMaxLevels) + " levels. Got " + std::string(text));
}

std::function<uint64_t()> DueTimes(double per_second, bool is_poisson, uint64_t begin_ns) {
  const double distance_ns = 1e9 / per_second;
  if (!is_poisson) {
    return [=, count = uint64_t{0}]() mutable {
      return begin_ns + static_cast<uint64_t>(distance_ns * static_cast<double>(count++));
    };
  }
  return [=, at = 0.0, random = std::mt19937_64(1)]() mutable {
    const uint64_t due_ns = begin_ns + static_cast<uint64_t>(at);
    at += std::exponential_distribution<double>(1 / distance_ns)(random);
    return due_ns;
  };
}

}  // namespace nereid::app::tools
