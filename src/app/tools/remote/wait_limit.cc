// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/wait_limit.h"

#include "app/tools/remote/server_address.h"
#include "base/parse_number.h"

namespace nereid::app::tools {

using base::Status;

base::Result<WaitLimit> WaitLimit::From(const ToolArguments& arguments, uint32_t default_seconds,
                                        const ToolContext& context) {
  const std::string text = arguments.Get("timeout", std::to_string(default_seconds));
  const auto seconds = base::ParseWhole<uint32_t>(text);
  if (!seconds) {
    return Status::InvalidArgument("--timeout must be a whole number of seconds. Got " + text);
  }
  return WaitLimit(*seconds, *context.clock);
}

base::Result<std::string> ModelOf(const ToolArguments& arguments) {
  if (arguments.words().size() != 1) {
    return Status::InvalidArgument("expected the name of one model, got " +
                                   std::to_string(arguments.words().size()) + " words");
  }
  const std::string& model = arguments.words().front();
  if (IsPathSegment(model)) return model;
  return Status::InvalidArgument("'" + model +
                                 "' cannot be the name of a model in a path: it has a slash, a "
                                 "space, or another character that a path cannot have");
}

}  // namespace nereid::app::tools
