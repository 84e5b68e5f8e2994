// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/tools/init/config_draft.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Makes the draft of a configuration from a model: a file, or the folder of a saved model or of an
/// ONNX model. `backend` is empty if the name of the file decides. Returns INVALID_ARGUMENT, with
/// what to do, for a file that is no model, and for a name that decides nothing.
base::Result<ConfigDraft> DraftOfModel(const std::string& path, const std::string& backend);

}  // namespace nereid::app::tools
