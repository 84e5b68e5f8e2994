// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/cloud_store.h"

#include "base/checked_math.h"
#include "repository/storage/list_rules.h"
#include "repository/storage/ranged_read.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

/// The first request, one to another region, one with other credentials.
constexpr int kMaxRequests = 3;
constexpr size_t kMaxErrorBytes = size_t{64} << 10;

/// Removes a message that repeats the request's credentials, as a faulty server may.
void HideCredentials(const curl::HttpRequest& request, ServiceError* error) {
  for (const char* const name : {"Authorization", "x-amz-security-token"}) {
    std::string_view value = curl::FieldOf(request.fields, name);
    value.remove_prefix(value.rfind(' ') + 1);  // npos + 1 is 0
    value.remove_prefix(value.rfind('=') + 1 < value.size() ? value.rfind('=') + 1 : 0);
    if (!value.empty() && error->message.find(value.substr(0, 20)) != std::string::npos) {
      error->message.clear();
    }
  }
}

}  // namespace

/// One call of ObjectStore: how its requests are made and received.
struct CloudStore::Call {
  std::string what;
  std::function<base::Result<PreparedRequest>()> prepare;
  const curl::HttpReceiver& receiver;
};

base::Result<curl::HttpResponse> CloudStore::Send(const Call& call) {
  for (int requests = 1;; ++requests) {
    const base::Result<PreparedRequest> request = call.prepare();
    if (!request.ok()) return request.status().WithPrefix(call.what + ": ");
    base::Result<curl::HttpResponse> response = http_->Send(request->http, call.receiver);
    if (!response.ok()) return response.status().WithPrefix(call.what + ": ");
    if (response->ok()) return response;
    ServiceError error = protocol_->ParseError(*response);
    if (requests < kMaxRequests && !IsTemporary(response->status, error) &&
        protocol_->Recover(*request, *response, error)) {
      continue;
    }
    HideCredentials(request->http, &error);
    const FailedCall failed = {call.what, request->credentials, protocol_->permissions()};
    if (response->status == 412 || response->status == 416) {
      return Status::AlreadyExists(call.what + ": the object was written again");
    }
    return StatusOf(failed, response->status, error);
  }
}

base::Result<ObjectPage> CloudStore::List(const std::string& prefix, bool only_this_level,
                                          const std::string& page) {
  const std::string what = "cannot list '" + protocol_->name() + "/" + prefix + "'";
  const auto prepare = [&]() -> base::Result<PreparedRequest> {
    NEREID_ASSIGN_OR_RETURN(PreparedRequest request,
                            protocol_->ListRequest(prefix, only_this_level, page));
    request.http.max_body = kMaxListBytes;
    return request;
  };
  const curl::HttpReceiver collect;
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse response, Send({what, prepare, collect}));
  base::Result<ObjectPage> result = protocol_->ParseList(response.body);
  if (!result.ok()) return result.status().WithPrefix(what + ": ");
  const Status checked = CheckPage(prefix, page, &*result);
  if (!checked.ok()) return checked.WithPrefix(what + ": ");
  return result;
}

Status CloudStore::Read(const ObjectInfo& object, uint64_t offset, uint64_t size, const Sink& sink,
                        const std::function<bool()>& is_cancelled) {
  const std::string what = "cannot read '" + protocol_->name() + "/" + object.key + "'";
  const std::optional<uint64_t> end = base::CheckedAdd(offset, size);
  if (!end || *end > object.size) {
    return Status::InvalidArgument(what + ": " + std::to_string(size) + " bytes from " +
                                   std::to_string(offset) + " are not within its " +
                                   std::to_string(object.size) + " bytes");
  }
  if (size == 0) return {};
  const curl::ByteRange range = {offset, size};
  Status sink_status;
  const Sink keep_status = [&](std::string_view piece) { return sink_status = sink(piece); };
  RangedRead read(range, object.size, keep_status);
  const auto take_head = [&](const curl::HttpResponse& head) -> Status {
    const std::string version = protocol_->VersionOf(head);
    if (!version.empty() && version != object.version) {
      return Status::AlreadyExists("the object was written again");
    }
    NEREID_RETURN_IF_ERROR(protocol_->CheckObject(object, head));
    return read.TakeHead(head);
  };
  const curl::HttpReceiver receiver = {
      .head = take_head,
      .body = [&](std::string_view piece) { return read.TakeBody(piece); },
      .is_cancelled = is_cancelled};
  const auto prepare = [&]() -> base::Result<PreparedRequest> {
    NEREID_ASSIGN_OR_RETURN(PreparedRequest request, protocol_->ReadRequest(object, range));
    request.http.max_body = kMaxErrorBytes;
    return request;
  };
  const base::Result<curl::HttpResponse> response = Send({what, prepare, receiver});
  if (!sink_status.ok()) return sink_status;  // as it is, for the caller who made it
  if (!response.ok()) return response.status();
  return read.Finish().WithPrefix(what + ": ");
}

}  // namespace nereid::repository::storage
