// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/remote_server.h"

#include <algorithm>
#include <optional>

#include "app/tools/remote/terminal_text.h"
#include "base/files.h"

namespace nereid::app::tools {

using base::Status;

namespace {

constexpr size_t kMaxReplyBytes = size_t{64} << 20;
constexpr uint64_t kMaxTokenFileBytes = 4096;
constexpr long kStallSecs = 30;

std::string Environment(const ToolContext& context, const char* name) {
  const char* const value = context.environment ? context.environment(name) : nullptr;
  return value == nullptr ? std::string() : value;
}

/// Returns the token without the white space around it. A token becomes a header field, so it must
/// not contain a line end.
base::Result<std::string> CheckToken(std::string_view text, const std::string& origin) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return Status::InvalidArgument(origin + " has no token");
  text = text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; })) {
    return Status::InvalidArgument(origin +
                                   " has more than a token: spaces, line ends or "
                                   "characters that are not ASCII");
  }
  return std::string(text);
}

}  // namespace

base::Result<std::string> RemoteServer::TokenOf(const ToolArguments& arguments,
                                                const ToolContext& context) {
  const std::string file = arguments.Get("token-file");
  if (!file.empty()) {
    NEREID_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(file, kMaxTokenFileBytes));
    return CheckToken(text, "the file '" + file + "'");
  }
  const std::string token = Environment(context, "NEREID_TOKEN");
  if (token.empty()) return std::string();
  return CheckToken(token, "the variable NEREID_TOKEN");
}

std::string RemoteServer::UrlOf(const ToolArguments& arguments, const ToolContext& context) {
  std::string url = arguments.Get("url");
  if (url.empty()) url = Environment(context, "NEREID_URL");
  return url.empty() ? "localhost:8000" : url;
}

base::Result<std::unique_ptr<RemoteServer>> RemoteServer::Open(const ToolArguments& arguments,
                                                               const ToolContext& context) {
  NEREID_ASSIGN_OR_RETURN(ServerAddress address, ParseServerUrl(UrlOf(arguments, context)));
  return OpenAt(std::move(address), arguments, context);
}

base::Result<std::unique_ptr<RemoteServer>> RemoteServer::OpenAt(ServerAddress address,
                                                                 const ToolArguments& arguments,
                                                                 const ToolContext& context) {
  NEREID_ASSIGN_OR_RETURN(std::string token, TokenOf(arguments, context));
  if (!context.make_client) return Status::Unsupported("this program has no HTTP client");
  NEREID_ASSIGN_OR_RETURN(auto client, context.make_client(arguments.Get("ca-file")));
  return std::unique_ptr<RemoteServer>(
      new RemoteServer(std::move(client), std::move(address), std::move(token)));
}

curl::HttpRequest RemoteServer::Request(std::string method, const std::string& path,
                                        std::string body) const {
  curl::HttpRequest request;
  request.method = std::move(method);
  request.url = address_.base_url + path;
  request.unix_socket = address_.unix_socket;
  request.use_proxy = address_.unix_socket.empty() && !address_.http2;
  request.http2 = address_.http2;
  request.body = std::move(body);
  request.max_body = kMaxReplyBytes;
  request.timeouts.stall_secs = kStallSecs;
  if (!token_.empty()) request.fields.emplace_back("Authorization", "Bearer " + token_);
  if (!request.body.empty()) request.fields.emplace_back("Content-Type", "application/json");
  return request;
}

base::Result<RemoteServer::Reply> RemoteServer::Send(const curl::HttpRequest& request,
                                                     const curl::HttpReceiver& receiver) {
  NEREID_ASSIGN_OR_RETURN(curl::HttpResponse response, client_->Send(request, receiver));
  return Reply{response.status, std::move(response.body)};
}

base::Result<curl::HttpResponse> RemoteServer::Exchange(Call call,
                                                        const curl::HttpReceiver& receiver) {
  curl::HttpRequest request = Request(std::move(call.method), call.path, std::move(call.body));
  request.max_body = call.max_reply_bytes;
  request.timeouts.stall_secs = call.stall_secs;
  request.timeouts.total_ms = call.total_ms;
  for (auto& own : call.fields) {
    std::erase_if(request.fields, [&](const auto& field) { return field.first == own.first; });
    request.fields.push_back(std::move(own));
  }
  return client_->Send(request, receiver);
}

base::Result<RemoteServer::Reply> RemoteServer::Get(const std::string& path) {
  return Send(Request("GET", path, {}));
}

base::Result<RemoteServer::Reply> RemoteServer::Post(const std::string& path, std::string body) {
  return Send(Request("POST", path, std::move(body)));
}

base::Result<RemoteServer::Reply> RemoteServer::PostAndWait(const std::string& path,
                                                            std::string body,
                                                            std::function<bool()> is_cancelled) {
  curl::HttpRequest request = Request("POST", path, std::move(body));
  request.timeouts.stall_secs = 0;
  return Send(request, {.is_cancelled = std::move(is_cancelled)});
}

base::Result<std::vector<IndexedModel>> RemoteServer::Index(long max_ms) {
  curl::HttpRequest request = Request("POST", "/v2/repository/index", "{}");
  request.timeouts.total_ms = max_ms;
  NEREID_ASSIGN_OR_RETURN(const Reply reply, Send(request));
  if (!reply.ok()) return RefusalOf(reply);
  auto models = DecodeIndex(reply.body);
  if (models.ok()) return models;
  return Status::Internal("the server's index of models cannot be read: is this a v2 server?");
}

Status RefusalOf(int status, std::string_view body) {
  const std::string text = TerminalText(ErrorText(body));
  return Status::Unsupported("the server answered " + std::to_string(status) +
                             (text.empty() ? "" : ": " + text));
}

Status RefusalOf(const RemoteServer::Reply& reply) { return RefusalOf(reply.status, reply.body); }

base::Result<bool> WantsJson(const ToolArguments& arguments) {
  const std::string format = arguments.Get("format", "text");
  if (format == "json") return true;
  if (format == "text") return false;
  return Status::InvalidArgument("--format must be text or json. Got " + format);
}

}  // namespace nereid::app::tools
