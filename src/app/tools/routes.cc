// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "api/access/operation.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/json_writer.h"
#include "console/console_route.h"
#include "frontend/cloud/sagemaker_route.h"
#include "frontend/cloud/vertex_ai_handler.h"
#include "frontend/grpc/method_table.h"
#include "frontend/http/route.h"
#include "frontend/metrics/metrics_handler.h"

namespace nereid::app::tools {
namespace {

constexpr char kUsage[] =
    "Usage: nereid routes [flags]\n\n"
    "Lists the routes of all front ends: what each one does, its category for\n"
    "--http-restricted-api and --grpc-restricted-protocol, and the roles that may call it if the\n"
    "server has --auth-file. A gRPC method that reads or changes settings has a line for each. "
    "With\n"
    "--admin-port, the routes that only the role manage may call are served at that port "
    "alone.\n"
    "The console serves the routes of http that begin with /v2, too.\n"
    "The routes of Vertex AI are named by the environment. A prediction may be redirected to a\n"
    "route of http or metrics that other roles than manage may call; it needs the roles of that\n"
    "route.\n\n";

constexpr ToolFlag kFlags[] = {
    {"format", "text|json", "Form of the list (default text)"},
    {"help", "", "Print this text"},
};

struct Row {
  std::string_view protocol;  // "http", "grpc", "metrics", "sagemaker", "vertex-ai" or "console"
  std::string_view method;    // of HTTP; "" for gRPC
  std::string path;
  api::Operation operation;
  bool is_change = false;  // of a gRPC method: with a message that changes something
};

std::vector<Row> AllRows() {
  std::vector<Row> rows;
  for (const frontend::http::EndpointSpec& spec : frontend::http::AllEndpoints()) {
    const std::string form(spec.form);
    if (spec.get) rows.push_back({"http", "GET", form, *spec.get});
    if (spec.reasons) rows.push_back({"http", "GET", form + "?reason=true", *spec.reasons});
    if (spec.post) rows.push_back({"http", "POST", form, *spec.post});
    if (spec.put) rows.push_back({"http", "PUT", form, *spec.put});
    if (spec.remove) rows.push_back({"http", "DELETE", form, *spec.remove});
  }
  for (const frontend::grpc::MethodSpec& spec : frontend::grpc::AllMethods()) {
    rows.push_back({"grpc", "", std::string(spec.path), spec.operation});
    if (spec.change) {
      rows.push_back({"grpc", "", std::string(spec.path), *spec.change, /*is_change=*/true});
    }
  }
  rows.push_back({"metrics", "GET", std::string(frontend::metrics::kMetricsPath),
                  frontend::metrics::kMetricsOperation});
  for (const frontend::cloud::CloudRoute& route : frontend::cloud::AllSagemakerRoutes()) {
    rows.push_back({"sagemaker", frontend::http::MethodName(route.method), std::string(route.form),
                    route.operation});
  }
  for (const frontend::cloud::CloudRoute& route : frontend::cloud::AllVertexAiRoutes()) {
    rows.push_back({"vertex-ai", frontend::http::MethodName(route.method), std::string(route.form),
                    route.operation});
  }
  for (const console::ConsoleRoute& route : console::AllConsoleRoutes()) {
    rows.push_back({"console", "GET", std::string(route.form), route.operation});
  }
  return rows;
}

std::string Json(const std::vector<Row>& rows) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginArray();
  for (const Row& row : rows) {
    const api::OperationFacts& facts = api::FactsOf(row.operation);
    json.NewLine().BeginObject();
    json.Key("protocol").String(row.protocol).Key("method").String(row.method);
    json.Key("path").String(row.path).Key("operation").String(facts.name);
    json.Key("category").String(api::CategoryName(facts.category));
    json.Key("roles").BeginArray();
    for (const api::Role role : {api::Role::kInfer, api::Role::kObserve, api::Role::kManage}) {
      if (facts.roles.Has(role)) json.String(api::RoleWords({role}));
    }
    json.EndArray();
    json.Key("probe").Bool(facts.is_probe).Key("public").Bool(facts.is_public);
    json.Key("change").Bool(row.is_change);
    json.EndObject();
  }
  json.NewLine().EndArray();
  return text + "\n";
}

std::string Padded(std::string_view word, size_t width) {
  return std::string(word) + std::string(width - std::min(width, word.size()) + 1, ' ');
}

std::string Text(const std::vector<Row>& rows) {
  std::string text = Padded("PROTOCOL", 9) + Padded("METHOD", 6) + Padded("CATEGORY", 16) +
                     Padded("ROLES", 20) + "PATH\n";
  for (const Row& row : rows) {
    const api::OperationFacts& facts = api::FactsOf(row.operation);
    text +=
        Padded(row.protocol, 9) + Padded(row.method, 6) +
        Padded(api::CategoryName(facts.category), 16) +
        Padded(facts.is_probe || facts.is_public ? "everyone" : api::RoleWords(facts.roles), 20);
    text.append(row.path).append(row.is_change ? " (changes)\n" : "\n");
  }
  return text;
}

}  // namespace

ToolResult RunRoutes(std::span<const std::string> words, const ToolContext& /*context*/) {
  const auto arguments = ToolArguments::Parse(kFlags, words);
  if (!arguments.ok()) return CannotRun("routes", arguments.status().message());
  if (arguments->Has("help")) return {0, std::string(kUsage) + FlagsText(kFlags), ""};
  if (!arguments->words().empty()) return CannotRun("routes", "expected no words, only flags");
  const std::string format = arguments->Get("format", "text");
  if (format != "text" && format != "json") {
    return CannotRun("routes", "--format must be text or json. Got " + format);
  }
  return {0, format == "json" ? Json(AllRows()) : Text(AllRows()), ""};
}

}  // namespace nereid::app::tools
