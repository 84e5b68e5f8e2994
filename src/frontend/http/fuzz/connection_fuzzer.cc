// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: all that one client sends to the HTTP port, in the clear. A quarter of the
// inputs continues a connection of HTTP/2, the others begin with their first byte: HTTP/1, or the
// preface of HTTP/2. See ServeFuzzedClient for the first three bytes.
#include "api/testing/fake_inference_service.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/http/loop.h"
#include "frontend/net/testing/fuzzed_client.h"

namespace {

using namespace nereid::frontend;

// The preface of a client and its empty SETTINGS.
constexpr std::string_view kOpening{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nereid::api::testing::FakeInferenceService service;
  static const auto handler = http::MakeKserveHandler({}, service);
  const auto make = [](net::ServerLoop& loop) {
    http::HttpServerOptions options;
    options.max_body_size = size_t{1} << 20;
    return std::make_shared<http::Loop>(loop, options, handler);
  };
  const bool is_http2 = size > 0 && data[0] % 4 == 3;
  net::testing::ServeFuzzedClient(make, is_http2 ? kOpening : "", data, size);
  return 0;
}
