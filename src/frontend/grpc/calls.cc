// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/calls.h"

#include <string>

#include "frontend/grpc/begin_access_record.h"
#include "frontend/grpc/call.h"
#include "frontend/grpc/response_headers.h"

namespace nereid::frontend::grpc {

void Calls::BeginHead(const http2::Opening&) { head_.Clear(); }

size_t Calls::AddField(std::string_view name, std::string_view value) {
  head_.Add(name, value, context_.options.max_metadata_size, context_.options.kept_fields.get());
  return head_.size;
}

std::shared_ptr<http2::Stream> Calls::Make(const http2::Opening& opening) {
  if (RefuseByHead(opening)) return nullptr;
  const bool has_peer = context_.options.gate != nullptr && context_.options.gate->NeedsPeer();
  CallStatus refusal;
  std::shared_ptr<Call> call = context_.make_call(
      CallOrigin{context_, loop_, opening, head_, has_peer ? &opening.host.peer() : nullptr},
      &refusal);
  if (call == nullptr) Refuse(opening, refusal);
  return call;
}

bool Calls::RefuseByHead(const http2::Opening& opening) {
  const size_t limit = context_.options.max_metadata_size;
  if (!head_.is_post || !head_.is_grpc) {
    RecordRefusal(opening, head_.is_post ? 415 : 405);
    SubmitHttpStatus(opening.session, opening.id, head_.is_post ? "415" : "405");
  } else if (head_.size > limit) {
    Refuse(opening, {kGrpcResourceExhausted, "received metadata size exceeds limit (" +
                                                 std::to_string(head_.size) + " vs. " +
                                                 std::to_string(limit) + ")"});
  } else if (head_.has_too_many_fields) {
    Refuse(opening, {kGrpcResourceExhausted, std::string(api::TooManyFieldsText())});
  } else if (head_.bad_timeout) {
    Refuse(opening, {kGrpcInternal, "the grpc-timeout header is malformed"});
  } else if (!head_.encoding.has_value()) {
    Refuse(opening, {kGrpcUnimplemented, "unknown grpc-encoding '" + head_.unknown_encoding +
                                             "': use identity, deflate or gzip"});
  } else {
    return false;
  }
  return true;
}

// A refused call has no CallStream that could log it.
void Calls::RecordRefusal(const http2::Opening& opening, int status) {
  const uint64_t now_ns = loop_.NowNs();
  const auto record = BeginAccessRecord(context_, opening.host, head_.path, now_ns);
  if (record != nullptr) record->Write(status, now_ns);
}

void Calls::Refuse(const http2::Opening& opening, const CallStatus& status) {
  RecordRefusal(opening, status.code);
  SubmitStatusOnly(opening.session, opening.id, status, context_.options.replica);
}

}  // namespace nereid::frontend::grpc
