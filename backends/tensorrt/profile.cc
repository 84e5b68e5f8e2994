// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "nereid/backend/data_type.h"

namespace nereid::tensorrt {
namespace {

bool Takes(const ProfileRange& range, const std::vector<int64_t>& numbers) {
  if (range.least.size() != numbers.size() || range.most.size() != numbers.size()) {
    return false;
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < range.least[i] || numbers[i] > range.most[i]) {
      return false;
    }
  }
  return true;
}

/// Computed in floating point, because the numbers come from a client and could overflow.
double Distance(const ProfileRange& range, const std::vector<int64_t>& numbers) {
  double distance = 0;
  for (size_t i = 0; i < std::min(range.best.size(), numbers.size()); ++i) {
    distance += std::abs(static_cast<double>(range.best[i]) - static_cast<double>(numbers[i]));
  }
  return distance;
}

std::string RangesText(std::span<const Profile> profiles, size_t input) {
  std::string text;
  for (const Profile& profile : profiles) {
    text += (text.empty() ? "" : ", ") + backend::ShapeText(profile.inputs[input].least) + " to " +
            backend::ShapeText(profile.inputs[input].most) + " (profile " +
            std::to_string(profile.index) + ")";
  }
  return text;
}

}  // namespace

Error ParseProfiles(std::span<const std::string> names, int count, std::vector<int>* indices) {
  indices->clear();
  for (const std::string& name : names) {
    int index = -1;
    const char* end = name.data() + name.size();
    const auto [rest, failure] = std::from_chars(name.data(), end, index);
    if (failure != std::errc() || rest != end || index < 0 || index >= count) {
      return Error::InvalidArgument("instance_group.profile is '" + name +
                                    "', but the engine's profiles are 0 to " +
                                    std::to_string(count - 1));
    }
    if (std::find(indices->begin(), indices->end(), index) == indices->end()) {
      indices->push_back(index);
    }
  }
  if (indices->empty()) {
    indices->push_back(0);
  }
  return {};
}

Error ChooseProfile(std::span<const Profile> profiles, std::span<const std::string> names,
                    std::span<const std::vector<int64_t>> inputs, size_t* place) {
  double least = -1;
  for (size_t p = 0; p < profiles.size(); ++p) {
    bool takes = true;
    double distance = 0;
    for (size_t i = 0; i < inputs.size() && takes; ++i) {
      takes = Takes(profiles[p].inputs[i], inputs[i]);
      distance += Distance(profiles[p].inputs[i], inputs[i]);
    }
    if (takes && (least < 0 || distance < least)) {
      least = distance;
      *place = p;
    }
  }
  if (least >= 0) {
    return {};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (std::none_of(profiles.begin(), profiles.end(),
                     [&](const Profile& profile) { return Takes(profile.inputs[i], inputs[i]); })) {
      return Error::InvalidArgument("input '" + names[i] + "' is " + backend::ShapeText(inputs[i]) +
                                    ", but the engine takes " + RangesText(profiles, i));
    }
  }
  return Error::InvalidArgument("no profile of the engine takes these inputs together");
}

}  // namespace nereid::tensorrt
