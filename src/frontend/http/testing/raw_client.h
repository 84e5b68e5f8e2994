// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::frontend::http::testing {

struct RawResponse {
  int status = 0;
  std::string head;  // with the status line
  std::string body;

  /// Returns the value of a field; empty if there is none.
  std::string Field(std::string_view name) const;
};

/// A blocking TCP client that sends exactly what it is told to.
class RawClient {
 public:
  explicit RawClient(uint16_t port);
  ~RawClient();
  RawClient(const RawClient&) = delete;

  bool connected() const { return socket_ >= 0; }
  void Send(std::string_view bytes);
  void FinishSending();
  /// Reads one response. Returns nothing at the end of the connection, or for malformed bytes.
  std::optional<RawResponse> Receive(bool is_head = false);
  /// Reads the head of a response; status 0 at the end of the connection.
  RawResponse ReceiveHead();
  /// Reads the next chunk of a chunked body; empty for the last one.
  std::string ReceiveChunk();
  /// Reads a response with a chunked body or with a length.
  RawResponse ReceiveChunked();
  /// Reads until the end of the connection.
  std::string ReceiveRest();
  /// Waits for the end of the connection. Returns false if the server sends something before.
  bool AtEnd();
  /// Returns whether the server has closed the connection by now.
  bool IsEnded() const;
  /// Resets the connection.
  void Abort();

 private:
  bool Fill();

  int socket_ = -1;
  std::string received_;
};

/// Returns a request with a body and its Content-Length.
std::string Post(std::string_view path, std::string_view body, std::string_view fields = {});
std::string Get(std::string_view path, std::string_view fields = {});

}  // namespace nereid::frontend::http::testing
