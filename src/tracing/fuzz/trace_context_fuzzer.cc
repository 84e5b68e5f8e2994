// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the trace headers of a client. The texts of traceparent and tracestate are
// separated by a line end. A context that is accepted must be valid, and its JSON must read back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/hex_text.h"
#include "base/utf8.h"
#include "tracing/trace_context.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::tracing;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(input.find('\n'), input.size());
  TraceHeaders headers;
  headers.Add("traceparent", input.substr(0, end));
  if (end < input.size()) headers.Add("tracestate", input.substr(end + 1));
  const auto context = ParseTraceContext(headers);
  if (!context) return 0;
  if (context->trace_id == TraceId{} || context->span_id == SpanId{}) std::abort();
  if (context->state.size() > 512) std::abort();
  if (!nereid::base::IsUtf8(TraceContextJson(*context))) std::abort();
  const std::string text = base::HexText(context->trace_id);
  if (headers.parent.find(text) == std::string::npos) std::abort();
  return 0;
}
