// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: pipelined requests, with and without bodies, as a connection reads them. The
// first byte is the size of the pieces in which they arrive. Where requests begin and end must not
// depend on that: a proxy in front of the server may cut them differently.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/http/request_reader.h"

namespace {

using namespace nereid::frontend::http;
using Result = RequestReader::Result;
using Requests = std::vector<std::pair<std::string, std::string>>;  // targets and bodies

/// Receives a part of a body directly, as Connection does.
Result ReceiveBody(RequestReader* reader, std::string_view* piece) {
  std::span<char> room;
  if (reader->MakeBodyRoom(piece->size(), &room) == Result::kRefused) return Result::kRefused;
  const size_t size = std::min(room.size(), piece->size());
  std::memcpy(room.data(), piece->data(), size);
  piece->remove_prefix(size);
  return reader->AddBody(size);
}

/// Returns the requests that are complete before the first one that is refused.
Requests ReadAll(std::string_view input, size_t piece_size) {
  // The limit of a head is larger than the inputs: Beast counts it from the line at which the bytes
  // that it gets begin, so that it is not exact to the byte.
  HttpServerOptions options;
  options.max_body_size = 1 << 20;
  const nereid::base::FakeClock clock;
  ReceivedRequest request;
  RequestReader reader(options, clock, &request);
  Requests requests;
  while (!input.empty()) {
    std::string_view piece = input.substr(0, piece_size);
    input.remove_prefix(piece.size());
    Result result = Result::kNeedsInput;
    do {
      if (reader.WantsBody()) {
        result = ReceiveBody(&reader, &piece);
      } else {
        result = reader.Read(std::exchange(piece, {}));
      }
      if (result == Result::kRefused) return requests;
      if (result == Result::kComplete) {
        requests.emplace_back(request.head.target, request.body.view());
      }
    } while (!piece.empty() || (result == Result::kComplete && reader.has_kept()));
  }
  return requests;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (ReadAll(input, data[0] + 1u) != ReadAll(input, size)) std::abort();
  return 0;
}
