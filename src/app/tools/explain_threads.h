// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "app/tools/tool.h"
#include "base/result.h"

namespace nereid::app::tools {

/// Returns lines that say how many threads the executions of a model have on a server, and why: for
/// each version of `model` on the metrics page `page`. A page without such metrics gives one line.
std::string ThreadsText(std::string_view page, std::string_view model);

/// Fetches the metrics page at `url`, such as http://localhost:8002/metrics, and does the same.
/// Returns UNAVAILABLE if the server does not answer.
base::Result<std::string> FetchThreadsText(const ToolContext& context, const std::string& url,
                                           std::string_view model);

}  // namespace nereid::app::tools
