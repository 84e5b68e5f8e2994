// SPDX-License-Identifier: Apache-2.0
// Texts that say what to do about a model that cannot be loaded because of its files
// (layout/advise.h).
#pragma once

#include <cstdint>
#include <string>

#include "config/model_config.h"
#include "repository/model_poll.h"

namespace nereid::repository {

/// Returns the advice on a directory that cannot be polled; "" if there is none. Reads the local
/// directory again, so it is called after failures only.
std::string AdviceOnPoll(const ModelDirectory& directory, const PollOptions& options);

/// Returns the advice on a model of which the version policy selects no version; "" if there is
/// none.
std::string AdviceOnNoVersion(const std::string& model, const std::string& directory,
                              const config::ModelConfig& config, bool has_config);

/// Returns whether a directory holds no model, although the end of its name could be that of a
/// backend ("old.bak"): it has no configuration, no model file, and there is no such backend.
/// `completed` is its configuration; `configured` tells whether one is written.
bool IsNoModel(const ModelDirectory& directory, const config::ModelConfig& completed,
               bool configured, const std::string& backend_directory);

/// Returns the advice on a version that a backend has refused; "" if there is none.
std::string AdviceOnVersion(const std::string& model, const std::string& directory,
                            const config::ModelConfig& written, bool has_config, int64_t version);

}  // namespace nereid::repository
