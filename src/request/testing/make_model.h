// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/complete/complete.h"
#include "config/parse/parse.h"
#include "request/model_identity.h"

namespace nereid::request {

/// A model whose configuration is `text` (config.pbtxt), with the defaults that do not depend on
/// files, and these labels by output. Aborts the test program for a text that cannot be read.
inline std::shared_ptr<const ModelIdentity> MakeModel(
    const std::string& text, std::map<std::string, std::vector<std::string>> labels = {}) {
  auto parsed = config::ParseModelConfigText(text, "test");
  auto identity = std::make_shared<ModelIdentity>();
  identity->config = config::NormalizeModelConfig(*parsed.value());
  identity->name = identity->config->name();
  identity->version = 1;
  identity->version_text = "1";
  identity->labels = std::move(labels);
  return identity;
}

}  // namespace nereid::request
