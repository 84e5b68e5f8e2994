// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace nereid::curl {

/// The fields of a message: names and values, in order.
using HttpFields = std::vector<std::pair<std::string, std::string>>;

/// Returns the value of the first field of that name in any case; an empty text if there is none.
std::string_view FieldOf(const HttpFields& fields, std::string_view name);

/// How long a request may take.
struct HttpTimeouts {
  long connect_ms = 10'000;
  long stall_secs =
      30;             // without a byte in either direction, from the start of the request; 0: any
  long total_ms = 0;  // from the start to the end of the body; 0: any
};

/// Which bytes of the content to ask for.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t size = 0;  // at least 1
};

struct HttpRequest {
  std::string method = "GET";  // GET, HEAD, POST, PUT or DELETE
  std::string url;             // http or https, encoded; sent as it is, with "/../" and "//"
  HttpFields fields = {};
  std::string body = {};
  std::optional<ByteRange> range = std::nullopt;  // becomes the field Range
  HttpTimeouts timeouts = {};
  /// The largest body that is kept in HttpResponse::body.
  size_t max_body = size_t{1} << 20;
  bool follow_redirects = false;  // at most five; to http and https
  bool use_proxy = true;          // the one of the environment, if any
  /// The path of a Unix socket to connect to; empty: the host of the URL.
  std::string unix_socket = {};
  /// Whether to speak HTTP/2 from the first byte, as gRPC does, on a connection of its own.
  /// Otherwise HTTP/1.1.
  bool http2 = false;
};

/// Returns INVALID_ARG if the method, the URL's scheme, a field or the range cannot be sent.
base::Status CheckRequest(const HttpRequest& request);

struct HttpResponse {
  int status = 0;
  HttpFields fields = {};  // names in lower case
  std::string body = {};  // without a sink; of a status outside 200 … 299 the beginning in any case
  HttpFields trailers = {};  // the fields behind the body, names in lower case

  bool ok() const { return status >= 200 && status < 300; }
  std::string_view field(std::string_view name) const { return FieldOf(fields, name); }
};

/// Collects the fields of a response from the lines of its head. The lines of an earlier response
/// (100 Continue, a redirection) are dropped when the next one begins.
class ResponseHead {
 public:
  explicit ResponseHead(HttpFields* fields) : fields_(fields) {}

  /// Takes one line with its end. Returns false if the head is too large.
  bool Take(std::string_view line);

 private:
  HttpFields* fields_;
  size_t size_ = 0;
};

}  // namespace nereid::curl
