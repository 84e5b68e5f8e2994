// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the head of a request and the framing of a chunked body. The first byte is the
// size of the pieces in which they arrive.
#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <string_view>

#include "frontend/http/request_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::frontend::http;
  if (size == 0) return 0;
  const size_t piece = data[0] + 1u;
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  RequestHead head;
  nereid::memory::ReceiveBuffer body;
  static const auto forwarding = nereid::api::HeaderForwarding::Make("a|x-");
  HttpServerOptions options;
  options.kept_fields = nereid::api::MakeFieldFilter(nullptr, *forwarding);
  RequestParser parser(&head, options);
  size_t available = std::min(piece, input.size());
  while (!parser.is_done()) {
    boost::system::error_code error;
    const size_t used = parser.put(boost::asio::buffer(input.data(), available), error);
    input.remove_prefix(used);
    available -= used;
    if (error == boost::beast::http::error::need_more) {
      if (available == input.size()) return 0;
      available = std::min(available + piece, input.size());
      continue;
    }
    if (error) return 0;
    if (parser.is_header_done() && !parser.is_done()) {
      if (!parser.chunked()) return 0;
      body.Start(0, 0);
      parser.StartChunkedBody(&body, {1 << 20});
    }
  }
  return 0;
}
