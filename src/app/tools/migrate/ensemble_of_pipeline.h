// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "app/tools/init/config_draft.h"
#include "app/tools/migrate/migration.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Returns the config.pbtxt of the ensemble that does what a pipeline does. `models` are the drafts
/// of the converted models by their names; they give the types and shapes. UNSUPPORTED with the
/// reason if no ensemble can do it, INVALID_ARGUMENT if the pipeline contradicts itself.
base::Result<std::string> EnsembleOfPipeline(const MigratedPipeline& pipeline,
                                             const std::map<std::string, ConfigDraft>& models);

}  // namespace nereid::app::tools
