// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tracing/span.h"

namespace nereid::tracing {

/// The attributes of the program that makes the spans: names and values, in UTF-8.
using Resource = std::vector<std::pair<std::string, std::string>>;

/// Returns an OTLP ExportTraceServiceRequest in protobuf's wire format.
std::string EncodeExportRequest(const Resource& resource, std::span<const Span> spans);

/// The part of an ExportTraceServiceResponse that says what the receiver did not take.
struct PartialSuccess {
  uint64_t rejected_spans = 0;
  std::string message;
};

/// Reads an ExportTraceServiceResponse. Nothing if it is not one.
std::optional<PartialSuccess> DecodeExportResponse(std::string_view bytes);

}  // namespace nereid::tracing
