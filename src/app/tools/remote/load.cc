// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>

#include <string>
#include <utility>

#include "app/tools/remote/model_rows.h"
#include "app/tools/remote/model_watch.h"
#include "app/tools/remote/remote_server.h"
#include "app/tools/remote/wait_limit.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json_writer.h"
#include "base/percent_text.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr char kUsage[] =
    "Usage: nereid load <model> [flags]\n\n"
    "Loads a model of a server's repository, or loads it again, and waits until that is done. The\n"
    "server must run with --model-control-mode=explicit. The states of the model's versions are\n"
    "shown on stderr as they change.\n\n"
    "Exit codes: 0 loaded; 1 the server refused or the load failed; 2 the server could not be\n"
    "asked; 3 --timeout has passed, and the load may go on.\n\n";

constexpr ToolFlag kFlags[] = {
    kUrlFlag,
    {"config", "path", "File with a model configuration as JSON, which replaces the model's own"},
    {"file", "path=file",
     "A file that replaces one of the model's files, such as 1/model.onnx=new.onnx; needs "
     "--config; "
     "may be repeated"},
    {"timeout", "seconds", "How long to wait; 0: until it is done (default 0)"},
    kFormatFlag,
    kTokenFlag,
    kCaFlag,
    kHelpFlag,
};

/// The largest file that is sent. A server may accept less (--http-max-input-size).
constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

std::string Base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // with the zero byte of EVP
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(size));
  return text;
}

/// Writes the parameter of one --file.
Status WriteFileParameter(const std::string& word, base::JsonWriter* json) {
  const size_t equals = word.find('=');
  if (equals == 0 || equals == word.npos || equals + 1 == word.size()) {
    return Status::InvalidArgument("--file must be <path in the model>=<file>. Got '" + word + "'");
  }
  NEREID_ASSIGN_OR_RETURN(const std::string bytes,
                          base::ReadFile(word.substr(equals + 1), kMaxFileBytes));
  json->Key("file:" + word.substr(0, equals)).String(Base64(bytes));
  return Status::Ok();
}

/// Returns the body of the request.
base::Result<std::string> Body(const ToolArguments& arguments) {
  const std::vector<std::string> files = arguments.All("file");
  if (!arguments.Has("config")) {
    if (files.empty()) return std::string("{}");
    return Status::InvalidArgument(
        "--file needs --config: a model of sent files has no other "
        "configuration");
  }
  std::string body;
  base::JsonWriter json(&body);
  json.BeginObject().Key("parameters").BeginObject();
  NEREID_ASSIGN_OR_RETURN(const std::string config,
                          base::ReadFile(arguments.Get("config"), kMaxFileBytes));
  json.Key("config").String(config);
  for (const std::string& file : files) NEREID_RETURN_IF_ERROR(WriteFileParameter(file, &json));
  json.EndObject().EndObject();
  return body;
}

ToolResult Failed(const Status& status) { return CannotRun("load", status.message()); }

/// Sends the request and waits for its end.
ToolResult Load(RemoteServer& server, const std::string& model, std::string body, WaitLimit limit,
                const ToolContext& context) {
  ModelWatch watch(server, model, context);
  const auto reply = server.PostAndWait(
      "/v2/repository/models/" + base::PercentEncode(model) + "/load", std::move(body), [&] {
        watch.Poll();
        return limit.IsOver();
      });
  if (!reply.ok() && limit.IsOver()) {
    return {kStillWaiting, "",
            "nereid load: gave up after " + limit.Text() + "; the server may go on loading\n"};
  }
  if (!reply.ok()) return Failed(reply.status());
  if (reply->status == 401 || reply->status == 403) return Failed(RefusalOf(*reply));
  if (!reply->ok()) return {1, "", ToolError("load", RefusalOf(*reply).message())};
  return {};
}

}  // namespace

ToolResult RunLoad(std::span<const std::string> words, const ToolContext& context) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return Failed(arguments.status());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  const auto model = ModelOf(*arguments);
  if (!model.ok()) return Failed(model.status());
  const auto json = WantsJson(*arguments);
  if (!json.ok()) return Failed(json.status());
  const auto limit = WaitLimit::From(*arguments, 0, context);
  if (!limit.ok()) return Failed(limit.status());
  auto body = Body(*arguments);
  if (!body.ok()) return Failed(body.status());
  const auto server = RemoteServer::Open(*arguments, context);
  if (!server.ok()) return Failed(server.status());
  ToolResult result = Load(**server, *model, std::move(body).value(), *limit, context);
  if (result.exit_code == 0) {
    result.out = ShowModel(**server, *model, *json, context.terminal_columns);
  }
  return result;
}

}  // namespace nereid::app::tools
