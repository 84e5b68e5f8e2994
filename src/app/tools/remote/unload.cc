// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>

#include "app/tools/remote/model_rows.h"
#include "app/tools/remote/model_watch.h"
#include "app/tools/remote/remote_server.h"
#include "app/tools/remote/wait_limit.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/percent_text.h"

namespace nereid::app::tools {
namespace {

constexpr char kUsage[] =
    "Usage: nereid unload <model> [flags]\n\n"
    "Unloads a model of a server and waits until its last request has ended. The server must run\n"
    "with --model-control-mode=explicit.\n\n"
    "Exit codes: 0 unloaded, or with --no-wait accepted; 1 the server refused; 2 the server could\n"
    "not be asked; 3 --timeout has passed, and requests still hold the model.\n\n";

constexpr ToolFlag kFlags[] = {
    kUrlFlag,
    {"dependents", "", "Also unload the models of an ensemble that were loaded for it alone"},
    {"no-wait", "", "Do not wait for the requests in flight"},
    {"timeout", "seconds", "How long to wait; 0: until it is done (default 300)"},
    kFormatFlag,
    kTokenFlag,
    kCaFlag,
    kHelpFlag,
};

constexpr uint32_t kDefaultSeconds = 300;
constexpr std::chrono::milliseconds kPause{250};

ToolResult Failed(const base::Status& status) { return CannotRun("unload", status.message()); }

/// Waits until no version of the model is in use. A caller who may not read the index waits for
/// nothing.
ToolResult WaitUntilGone(RemoteServer& server, const std::string& model, const WaitLimit& limit,
                         const ToolContext& context) {
  ModelWatch watch(server, model, context);
  auto index = server.Index();
  while (index.ok() && IsInUse(model, *index)) {
    if (limit.IsOver()) {
      return {kStillWaiting, "",
              "nereid unload: gave up after " + limit.Text() +
                  "; the model is unloaded when its last request has ended\n"};
    }
    context.pause(kPause);
    if (auto polled = watch.Poll()) index = std::move(*polled);
    if (watch.gave_up()) break;
  }
  return {};
}

}  // namespace

ToolResult RunUnload(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return Failed(arguments.status());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  const auto model = ModelOf(*arguments);
  if (!model.ok()) return Failed(model.status());
  const auto json = WantsJson(*arguments);
  if (!json.ok()) return Failed(json.status());
  const auto limit = WaitLimit::From(*arguments, kDefaultSeconds, context);
  if (!limit.ok()) return Failed(limit.status());
  const auto server = RemoteServer::Open(*arguments, context);
  if (!server.ok()) return Failed(server.status());
  const std::string body =
      arguments->Has("dependents") ? R"({"parameters":{"unload_dependents":true}})" : "{}";
  const auto reply =
      (*server)->Post("/v2/repository/models/" + base::PercentEncode(*model) + "/unload", body);
  if (!reply.ok()) return Failed(reply.status());
  if (reply->status == 401 || reply->status == 403) return Failed(RefusalOf(*reply));
  if (!reply->ok()) return {1, "", ToolError("unload", RefusalOf(*reply).message())};
  ToolResult result;
  if (!arguments->Has("no-wait")) result = WaitUntilGone(**server, *model, *limit, context);
  if (result.exit_code == 0) {
    result.out = ShowModel(**server, *model, *json, context.terminal_columns);
  }
  return result;
}

}  // namespace nereid::app::tools
