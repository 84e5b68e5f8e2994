// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

struct nghttp2_session;
struct nghttp2_session_callbacks;

namespace nereid::frontend::http2::testing {

using Headers = std::vector<std::pair<std::string, std::string>>;

/// What came back on one stream: an HTTP reply, or that of a gRPC call.
struct Reply {
  std::map<std::string, std::string> headers;  // trailers too
  std::vector<std::string> statuses;           // each :status, those of 1xx too
  std::string body;
  bool closed = false;
  uint32_t error_code = 0;

  /// The value of a header; empty without one.
  std::string Field(const std::string& name) const;

  /// grpc-status; -1 without one.
  int status() const;
  /// grpc-message, decoded.
  std::string message() const;
  /// The complete messages in the body, as they came (maybe compressed).
  std::vector<std::string> messages() const;
};

/// `body` behind the prefix of a gRPC message.
std::string Frame(std::string_view body, bool compressed = false);

/// A blocking HTTP/2 client on 127.0.0.1 for tests. One thread.
class TestClient {
 public:
  /// `window`: bytes of a call that the server may send before they are read; 0 for a client that
  /// does not read until SetWindow().
  explicit TestClient(uint16_t port, uint32_t window = 65535);
  ~TestClient();
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  /// Begins a gRPC call: the usual headers, then `extra`, which replace those of the same name.
  int32_t Open(const std::string& path, const Headers& extra = {});
  /// Sends bytes as they are; `end` closes our side.
  void Send(int32_t stream, std::string bytes, bool end);
  void Reset(int32_t stream);
  void Ping();
  void SetWindow(uint32_t window);
  /// Takes in what the server sends until everything that was sent before has reached it.
  void RoundTrip();
  /// Waits until the call is over.
  const Reply& Finish(int32_t stream);
  /// Waits for at least `count` messages, or the call's end.
  const Reply& WaitForMessages(int32_t stream, size_t count);
  /// Waits for at least `size` bytes of the body, or the stream's end.
  const Reply& WaitForBody(int32_t stream, size_t size);
  void WaitForGoAway();
  /// Waits until the server closes the connection.
  void WaitForClose();

  /// A whole request that is not gRPC. Without a body the head ends it.
  Reply Request(const std::string& method, const std::string& path, std::string_view body = {},
                const Headers& extra = {});
  /// Begins a request that is not gRPC and has a body.
  int32_t OpenRequest(const std::string& method, const std::string& path,
                      const Headers& extra = {});

  /// A whole call with one message (not yet framed).
  Reply Unary(const std::string& path, std::string_view message, const Headers& extra = {});

  bool connected() const { return connected_; }
  bool going_away() const { return going_away_; }
  uint32_t goaway_error() const { return goaway_error_; }

 private:
  struct Stream {
    Reply reply;
    std::string unsent;
    size_t sent = 0;
    bool end = false;
  };
  friend struct ClientCallbacks;

  int32_t Submit(const Headers& headers, bool has_body);
  void SendAll();
  bool ReceiveSome();

  int socket_ = -1;
  nghttp2_session* session_ = nullptr;
  nghttp2_session_callbacks* callbacks_ = nullptr;
  std::map<int32_t, Stream> streams_;
  bool connected_ = true;
  bool going_away_ = false;
  uint32_t goaway_error_ = 0;
  int answered_pings_ = 0;
};

/// A connected socket on 127.0.0.1 for bytes that are no HTTP/2.
class RawClient {
 public:
  explicit RawClient(uint16_t port);
  ~RawClient();
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  /// False when the server has closed.
  bool Send(std::string_view bytes);
  /// Everything that comes until the server closes.
  std::string ReadToEnd();
  void HalfClose();

 private:
  int socket_;
};

}  // namespace nereid::frontend::http2::testing
