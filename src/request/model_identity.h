// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/model_config.h"

namespace nereid::request {

/// The facts about a model that a request and its responses use. Requests hold it by a
/// shared_ptr that shares ownership with the model itself, so a model version lives as long as any
/// request or response refers to it.
struct ModelIdentity {
  std::string name;
  int64_t version = 0;
  std::string version_text;  // `version` in decimal
  std::shared_ptr<const config::ModelConfig> config;
  std::map<std::string, std::vector<std::string>> labels;  // of outputs with a label file
  /// Whether the backend chose max_batch_size, because config.pbtxt has none.
  bool backend_chose_batch_size = false;

  /// Returns the labels of an output's classes, by index; empty if it has none.
  std::span<const std::string> LabelsOf(const std::string& output) const {
    const auto found = labels.find(output);
    if (found == labels.end()) return {};
    return found->second;
  }
};

}  // namespace nereid::request
