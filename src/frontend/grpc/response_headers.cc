// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/response_headers.h"

#include <array>
#include <span>
#include <string>
#include <vector>

#include "api/sequence_field.h"
#include "frontend/http2/field.h"

namespace nereid::frontend::grpc {
namespace {

nghttp2_nv Header(std::string_view name, std::string_view value, bool copy_value = false) {
  uint8_t flags = NGHTTP2_NV_FLAG_NO_COPY_NAME;
  if (!copy_value) flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE;
  return http2::Field(name, value, flags);
}

// The first headers of every response.
nghttp2_nv StatusOk() { return Header(":status", "200"); }
nghttp2_nv GrpcContent() { return Header("content-type", "application/grpc"); }
nghttp2_nv AcceptedEncodings() { return Header("grpc-accept-encoding", "identity,deflate,gzip"); }

// Returns a static text, which nghttp2 need not copy; "2" (UNKNOWN) for a code that gRPC lacks.
std::string_view CodeText(int code) {
  static constexpr std::string_view kCodes[] = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                                "9", "10", "11", "12", "13", "14", "15", "16"};
  return code >= 0 && code <= 16 ? kCodes[code] : kCodes[2];
}

// The headers of a response: the usual ones, and those that its call adds. It consists of views,
// which must be valid until the headers are submitted; nghttp2 then has its copies.
class HeaderList {
 public:
  HeaderList(std::span<const nghttp2_nv> usual) : all_(usual) {}  // NOLINT: implicit by design

  void Add(const ResponseMetadata::Fields& fields) {
    if (fields.empty()) return;
    if (more_.empty()) more_.assign(all_.begin(), all_.end());
    for (const auto& [name, value] : fields) {
      more_.push_back(http2::Field(name, value, NGHTTP2_NV_FLAG_NONE));
    }
    all_ = more_;
  }

  void AddReplica(std::string_view replica) {
    if (replica.empty()) return;
    more_.assign(all_.begin(), all_.end());
    more_.push_back(http2::Field(api::kReplicaField, replica, NGHTTP2_NV_FLAG_NONE));
    all_ = more_;
  }

  const nghttp2_nv* data() const { return all_.data(); }
  size_t size() const { return all_.size(); }

 private:
  std::span<const nghttp2_nv> all_;
  std::vector<nghttp2_nv> more_;
};

}  // namespace

void SubmitHeaders(nghttp2_session* session, int32_t stream, Encoding encoding,
                   const nghttp2_data_provider& messages, std::string_view replica,
                   const ResponseMetadata* metadata) {
  const std::array<nghttp2_nv, 4> usual = {StatusOk(), GrpcContent(), AcceptedEncodings(),
                                           Header("grpc-encoding", EncodingName(encoding))};
  const bool encoded = encoding != Encoding::kIdentity;
  HeaderList headers{std::span(usual).first(usual.size() - (encoded ? 0 : 1))};
  headers.AddReplica(replica);
  if (metadata != nullptr) headers.Add(metadata->initial);
  nghttp2_submit_response(session, stream, headers.data(), headers.size(), &messages);
}

void SubmitTrailers(nghttp2_session* session, int32_t stream, const CallStatus& status,
                    const ResponseMetadata* metadata) {
  const std::string text = PercentEncode(status.message);
  const std::array<nghttp2_nv, 2> usual = {Header("grpc-status", CodeText(status.code)),
                                           Header("grpc-message", text, /*copy_value=*/true)};
  HeaderList trailers{std::span(usual).first(text.empty() ? 1 : 2)};
  if (metadata != nullptr) trailers.Add(metadata->trailing);
  nghttp2_submit_trailer(session, stream, trailers.data(), trailers.size());
}

void SubmitStatusOnly(nghttp2_session* session, int32_t stream, const CallStatus& status,
                      std::string_view replica, const ResponseMetadata* metadata) {
  const std::string text = PercentEncode(status.message);
  const std::array<nghttp2_nv, 5> usual = {
      StatusOk(), GrpcContent(), Header("grpc-status", CodeText(status.code)), AcceptedEncodings(),
      Header("grpc-message", text, /*copy_value=*/true)};
  HeaderList headers{std::span(usual).first(usual.size() - (text.empty() ? 1 : 0))};
  headers.AddReplica(replica);
  if (metadata != nullptr) {
    headers.Add(metadata->initial);
    headers.Add(metadata->trailing);
  }
  nghttp2_submit_response(session, stream, headers.data(), headers.size(), nullptr);
}

void SubmitHttpStatus(nghttp2_session* session, int32_t stream, std::string_view status) {
  const nghttp2_nv header = Header(":status", status, /*copy_value=*/true);
  nghttp2_submit_response(session, stream, &header, 1, nullptr);
}

}  // namespace nereid::frontend::grpc
