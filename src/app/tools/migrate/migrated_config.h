// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/tools/init/config_draft.h"
#include "app/tools/migrate/migration.h"
#include "app/tools/migrate/model_folder.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Makes the draft of the configuration from the model's file, with the shapes that the other
/// server's configuration sets. Adds to `model->parameters` and `model->notes` what follows from
/// that.
base::Result<ConfigDraft> DraftOfMigrated(const ModelFiles& files, MigratedModel* model);

/// Returns the text of config.pbtxt. Adds to `model->notes` what the model cannot do.
std::string MigratedConfig(const ConfigDraft& draft, MigratedModel* model);

/// Returns the labels of versions as the plan of a rollout (docs/user/rollouts.md).
std::string RolloutOfLabels(const MigratedModel& model);

/// Returns a text as the text format of protobuf has it, in quotes.
std::string QuotedText(const std::string& text);

}  // namespace nereid::app::tools
