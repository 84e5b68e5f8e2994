// SPDX-License-Identifier: Apache-2.0
#include "app/tools/infer/grpc_message.h"

#include "app/tools/remote/terminal_text.h"
#include "base/parse_number.h"

namespace nereid::app::tools {
namespace {

using base::Status;

constexpr size_t kHeadBytes = 5;
constexpr size_t kMaxMessageBytes = size_t{1} << 30;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Decodes the percent signs of grpc-message; others stay.
std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = i + 2 < text.size() && text[i] == '%' ? HexDigit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexDigit(text[i + 2]);
    if (low < 0) {
      decoded += text[i];
      continue;
    }
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

/// The names of the codes of gRPC.
std::string CodeName(int code) {
  constexpr const char* kNames[] = {"OK",
                                    "CANCELLED",
                                    "UNKNOWN",
                                    "INVALID_ARGUMENT",
                                    "DEADLINE_EXCEEDED",
                                    "NOT_FOUND",
                                    "ALREADY_EXISTS",
                                    "PERMISSION_DENIED",
                                    "RESOURCE_EXHAUSTED",
                                    "FAILED_PRECONDITION",
                                    "ABORTED",
                                    "OUT_OF_RANGE",
                                    "UNIMPLEMENTED",
                                    "INTERNAL",
                                    "UNAVAILABLE",
                                    "DATA_LOSS",
                                    "UNAUTHENTICATED"};
  if (code >= 0 && code < static_cast<int>(std::size(kNames))) return kNames[code];
  return "code " + std::to_string(code);
}

}  // namespace

std::string FramedMessage(std::string_view message) {
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    framed += static_cast<char>((message.size() >> shift) & 0xffu);
  }
  return framed.append(message);
}

Status MessageFrames::Take(std::string_view bytes,
                           const std::function<Status(std::string_view message)>& visit) {
  pending_ += bytes;
  std::string_view rest = pending_;
  while (rest.size() >= kHeadBytes) {
    size_t size = 0;
    for (size_t i = 1; i < kHeadBytes; ++i) size = size << 8 | static_cast<unsigned char>(rest[i]);
    if (rest[0] != 0) return Status::Internal("the server's message is compressed, unasked");
    if (size > kMaxMessageBytes) return Status::Internal("a message of the server exceeds 1 GiB");
    if (rest.size() - kHeadBytes < size) break;
    NEREID_RETURN_IF_ERROR(visit(rest.substr(kHeadBytes, size)));
    rest.remove_prefix(kHeadBytes + size);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return {};
}

Status CallOutcome(const curl::HttpResponse& response) {
  if (response.status != 200) {
    return Status::Unavailable("the server answered " + std::to_string(response.status) +
                               ": is this a gRPC server?");
  }
  const curl::HttpFields& fields =
      curl::FieldOf(response.trailers, "grpc-status").empty() ? response.fields : response.trailers;
  const auto code = base::ParseWhole<int>(curl::FieldOf(fields, "grpc-status"));
  if (!code) return Status::Unavailable("the server's answer lacks a gRPC status");
  if (*code == 0) return {};
  const std::string text = PercentDecoded(curl::FieldOf(fields, "grpc-message"));
  return Status::Unavailable("the server answered " + CodeName(*code) +
                             (text.empty() ? "" : ": " + TerminalText(text)));
}

}  // namespace nereid::app::tools
