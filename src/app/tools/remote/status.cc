// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "app/tools/remote/remote_server.h"
#include "app/tools/remote/terminal_text.h"
#include "app/tools/remote/wait_limit.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/json_writer.h"

namespace nereid::app::tools {
namespace {

constexpr char kUsage[] =
    "Usage: nereid status [flags]\n\n"
    "Says what a server is, whether it is live and ready, and why not. Works with every server of\n"
    "the v2 protocol. A server that gives no reasons is asked for its models that are not "
    "ready.\n\n"
    "Exit codes: 0 live and ready; 1 not live or not ready; 2 the server could not be asked; 3 "
    "with\n"
    "--wait, --timeout has passed.\n\n";

constexpr uint32_t kDefaultWaitSeconds = 60;
constexpr auto kBetweenQuestions = std::chrono::milliseconds(200);

constexpr ToolFlag kFlags[] = {
    {"wait", "", "Wait until the server answers and is ready"},
    {"timeout", "seconds", "How long to wait; 0: without an end (default 60)"},
    kUrlFlag,
    kFormatFlag,
    kTokenFlag,
    kCaFlag,
    kHelpFlag};

/// The answer to one question about health.
struct Answer {
  bool yes = false;
  std::vector<HealthReason> reasons = {};
};

struct ServerState {
  ServerDescription server;
  Answer live;
  Answer ready;
};

/// Asks with reasons, and without them where the reasons are refused: health is open to everyone,
/// reasons are not.
base::Result<Answer> Ask(RemoteServer& server, const std::string& path) {
  NEREID_ASSIGN_OR_RETURN(auto reply, server.Get(path + "?reason=true"));
  if (reply.status == 401 || reply.status == 403) {
    NEREID_ASSIGN_OR_RETURN(reply, server.Get(path));
  }
  if (reply.status == 401 || reply.status == 403 || reply.status == 404) return RefusalOf(reply);
  Answer answer{.yes = reply.ok()};
  if (auto reasons = DecodeReasons(reply.body); reasons.ok()) {
    answer.reasons = std::move(reasons).value();
  }
  return answer;
}

/// Returns the models of the index that are not ready, as reasons. An unloaded model is none.
std::vector<HealthReason> ReasonsFromIndex(RemoteServer& server) {
  std::vector<HealthReason> reasons;
  const auto models = server.Index();
  if (!models.ok()) return reasons;
  for (const IndexedModel& model : *models) {
    if (model.state.empty() || model.state == "READY" || model.reason == "unloaded") continue;
    reasons.push_back({"model", model.name, model.version, model.state, model.reason});
  }
  return reasons;
}

base::Result<ServerState> ReadState(RemoteServer& server) {
  ServerState state;
  NEREID_ASSIGN_OR_RETURN(state.live, Ask(server, "/v2/health/live"));
  NEREID_ASSIGN_OR_RETURN(state.ready, Ask(server, "/v2/health/ready"));
  if (!state.ready.yes && state.ready.reasons.empty()) {
    state.ready.reasons = ReasonsFromIndex(server);
  }
  // A server that is not live may not describe itself.
  const auto reply = server.Get("/v2");
  if (reply.ok() && reply->ok()) {
    if (auto decoded = DecodeServer(reply->body); decoded.ok()) {
      state.server = std::move(decoded).value();
    }
  }
  return state;
}

std::string ReasonText(const HealthReason& reason) {
  std::string text = TerminalText(reason.cause);
  if (!reason.model.empty()) text += " " + TerminalText(reason.model);
  if (!reason.version.empty()) text += " version " + TerminalText(reason.version);
  if (!reason.state.empty()) text += " " + TerminalText(reason.state);
  if (!reason.text.empty()) text += ": " + TerminalText(reason.text);
  return text;
}

void AppendAnswer(const char* label, const Answer& answer, std::string* text) {
  constexpr size_t kMaxShown = 100;
  constexpr const char* kIndent = "            ";
  text->append(label).append(answer.yes ? "yes\n" : "no\n");
  const size_t count = answer.reasons.size();
  for (size_t i = 0; i < std::min(count, kMaxShown); ++i) {
    text->append(kIndent).append(ReasonText(answer.reasons[i])).append("\n");
  }
  if (count <= kMaxShown) return;
  text->append(kIndent).append("and " + std::to_string(count - kMaxShown) + " more\n");
}

std::string Text(const ServerState& state) {
  std::string extensions;
  for (const std::string& extension : state.server.extensions) {
    extensions += (extensions.empty() ? "" : " ") + TerminalText(extension, 100);
    if (extensions.size() > 2000) break;
  }
  std::string text = "server      " + TerminalText(state.server.name) + " " +
                     TerminalText(state.server.version) + "\nextensions  " + extensions + "\n";
  AppendAnswer("live        ", state.live, &text);
  AppendAnswer("ready       ", state.ready, &text);
  return text;
}

void WriteText(std::string_view key, const std::string& text, base::JsonWriter* json) {
  if (!text.empty()) json->Key(key).String(text);
}

void WriteAnswer(std::string_view key, const Answer& answer, base::JsonWriter* json) {
  json->NewLine().Key(key).BeginObject().Key("yes").Bool(answer.yes).Key("reasons").BeginArray();
  for (const HealthReason& reason : answer.reasons) {
    json->BeginObject();
    WriteText("cause", reason.cause, json);
    WriteText("model", reason.model, json);
    WriteText("version", reason.version, json);
    WriteText("state", reason.state, json);
    WriteText("text", reason.text, json);
    json->EndObject();
  }
  json->EndArray().EndObject();
}

std::string Json(const ServerState& state) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject();
  json.NewLine().Key("name").String(state.server.name);
  json.NewLine().Key("version").String(state.server.version);
  json.NewLine().Key("extensions").BeginArray();
  for (const std::string& extension : state.server.extensions) {
    json.String(extension);
  }
  json.EndArray();
  WriteAnswer("live", state.live, &json);
  WriteAnswer("ready", state.ready, &json);
  json.NewLine().EndObject();
  return text + "\n";
}

bool IsReady(const base::Result<ServerState>& state) {
  return state.ok() && state->live.yes && state->ready.yes;
}

/// Returns whether another answer may follow without a change by the user: the server does not
/// listen yet, or is not ready yet.
bool MayBecomeReady(const base::Result<ServerState>& state) {
  return state.ok() ? !IsReady(state) : state.status().code() == base::StatusCode::kUnavailable;
}

}  // namespace

ToolResult RunStatus(std::span<const std::string> words, const ToolContext& context) {
  const auto failed = [](const base::Status& status) {
    return CannotRun("status", status.message());
  };
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return failed(arguments.status());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  if (!arguments->words().empty()) return CannotRun("status", "expected no words, only flags");
  const auto json = WantsJson(*arguments);
  if (!json.ok()) return failed(json.status());
  const auto server = RemoteServer::Open(*arguments, context);
  if (!server.ok()) return failed(server.status());
  const auto limit = WaitLimit::From(*arguments, kDefaultWaitSeconds, context);
  if (!limit.ok()) return failed(limit.status());
  const bool waits = arguments->Has("wait");
  auto state = ReadState(**server);
  while (waits && MayBecomeReady(state) && !limit->IsOver()) {
    context.pause(kBetweenQuestions);
    state = ReadState(**server);
  }
  const int unready = waits ? kStillWaiting : 1;
  if (!state.ok() && waits && MayBecomeReady(state)) {
    return {unready, "", ToolError("status", state.status().message())};
  }
  if (!state.ok()) return failed(state.status());
  return {IsReady(state) ? 0 : unready, *json ? Json(*state) : Text(*state), ""};
}

}  // namespace nereid::app::tools
