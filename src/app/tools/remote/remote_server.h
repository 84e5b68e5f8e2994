// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/tools/remote/replies.h"
#include "app/tools/remote/server_address.h"
#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "curl/http_client.h"

namespace nereid::app::tools {

/// The flags that say which server a tool asks, and how.
inline constexpr ToolFlag kUrlFlag = {
    "url", "url",
    "The server: http://host:port, https://host:port or unix:path (default NEREID_URL, else "
    "localhost:8000)"};
inline constexpr ToolFlag kTokenFlag = {"token-file", "path",
                                        "File with a token, which is sent as 'Authorization: "
                                        "Bearer' (default the variable NEREID_TOKEN, "
                                        "else none)"};
inline constexpr ToolFlag kCaFlag = {
    "ca-file", "path", "PEM file of the authorities to trust (default those of the system)"};
inline constexpr ToolFlag kFormatFlag = {"format", "text|json",
                                         "Form of the output (default text)"};
inline constexpr ToolFlag kHelpFlag = {"help", "", "Print this text"};

/// A v2 server that a tool asks.
class RemoteServer {
 public:
  struct Reply {
    int status = 0;
    std::string body;
    bool ok() const { return status == 200; }
  };

  /// Makes the client that the flags ask for. Returns INVALID_ARGUMENT for a wrong URL or token.
  static base::Result<std::unique_ptr<RemoteServer>> Open(const ToolArguments& arguments,
                                                          const ToolContext& context);

  /// Makes a client of the server at this address.
  static base::Result<std::unique_ptr<RemoteServer>> OpenAt(ServerAddress address,
                                                            const ToolArguments& arguments,
                                                            const ToolContext& context);
  /// Returns the address that --url, NEREID_URL or the default names, as text.
  static std::string UrlOf(const ToolArguments& arguments, const ToolContext& context);
  /// Returns the token that --token-file or NEREID_TOKEN names; "" for none.
  static base::Result<std::string> TokenOf(const ToolArguments& arguments,
                                           const ToolContext& context);

  /// Send a request and return the reply, whatever its status is. `path` begins with "/".
  base::Result<Reply> Get(const std::string& path);
  base::Result<Reply> Post(const std::string& path, std::string body);
  /// Sends a request that may take as long as it likes. Calls `is_cancelled` at least once a
  /// second; if it returns true the request is given up with CANCELLED.
  base::Result<Reply> PostAndWait(const std::string& path, std::string body,
                                  std::function<bool()> is_cancelled);

  /// A request in all its parts.
  struct Call {
    std::string method = "GET";
    std::string path;
    std::string body = {};
    curl::HttpFields fields = {};  // besides the token's
    size_t max_reply_bytes = size_t{64} << 20;
    long stall_secs = 30;  // without a byte in either direction; 0: any time
    long total_ms = 0;     // 0: any time
  };
  /// Sends the request and returns the response, whatever its status is. Thread-safe.
  base::Result<curl::HttpResponse> Exchange(Call call, const curl::HttpReceiver& receiver = {});

  /// Returns the repository index. `max_ms` bounds the time; 0: no bound.
  base::Result<std::vector<IndexedModel>> Index(long max_ms = 0);

  const ServerAddress& address() const { return address_; }

 private:
  RemoteServer(std::unique_ptr<curl::HttpClient> client, ServerAddress address, std::string token)
      : client_(std::move(client)), address_(std::move(address)), token_(std::move(token)) {}
  curl::HttpRequest Request(std::string method, const std::string& path, std::string body) const;
  base::Result<Reply> Send(const curl::HttpRequest& request,
                           const curl::HttpReceiver& receiver = {});

  const std::unique_ptr<curl::HttpClient> client_;
  const ServerAddress address_;
  const std::string token_;  // empty: none
};

/// Returns the status for a reply that is not a success: the server's text with its status.
base::Status RefusalOf(const RemoteServer::Reply& reply);
base::Status RefusalOf(int status, std::string_view body);

/// Returns whether --format asks for JSON; INVALID_ARGUMENT for another word than text or json.
base::Result<bool> WantsJson(const ToolArguments& arguments);

}  // namespace nereid::app::tools
