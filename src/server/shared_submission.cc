// SPDX-License-Identifier: Apache-2.0
#include "server/shared_submission.h"

#include <exception>
#include <utility>

#include "base/byte_budget.h"
#include "request/binding.h"

namespace nereid::server {
namespace {

using base::Status;
using IdentityPtr = std::shared_ptr<const request::ModelIdentity>;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

/// Bytes of strings that an event loop copies and checks: about a millisecond.
constexpr uint64_t kMaxStringsOnLoop = uint64_t{1} << 20;

Status OwnAndSubmit(IdentityPtr identity, model::ModelVersion& version, RequestPtr& request,
                    model::SubmissionWatch* watch) {
  NEREID_RETURN_IF_ERROR(api::OwnStrings(*request));
  if (watch != nullptr) return model::Submit(std::move(identity), version, request, *watch);
  return model::Submit(std::move(identity), version, request);
}

/// A request that another thread submits.
struct Waiting {
  IdentityPtr identity;  // keeps the version alive
  model::ModelVersion& version;
  RequestPtr request;
  std::shared_ptr<model::SubmissionWatch> watch;  // may be null

  void Submit() {
    Status status;
    try {
      status = OwnAndSubmit(identity, version, request, watch.get());
    } catch (const std::exception&) {
      status = Status::Unavailable("out of memory");
    }
    if (status.ok() || request == nullptr) return;
    request::BindRequest(*request, identity);
    request::RefuseRequest(std::move(request), std::move(status));
  }
};

}  // namespace

Status SharedSubmission::Submit(IdentityPtr identity, model::ModelVersion& version,
                                RequestPtr& request,
                                std::shared_ptr<model::SubmissionWatch> watch) {
  NEREID_RETURN_IF_ERROR(memory_.Attach(*request));
  const api::SharedStrings strings = api::FindSharedStrings(*request);
  const bool is_long = strings.byte_size > kMaxStringsOnLoop;
  if ((is_long || strings.on_gpu) && !base::ThreadMayBlock()) {
    if (!version.HasSequences()) {
      return SubmitElsewhere(workers_, std::move(identity), version, request, std::move(watch));
    }
    if (strings.on_gpu) {
      return SubmitElsewhere(in_order_, std::move(identity), version, request, std::move(watch));
    }
  }
  return OwnAndSubmit(std::move(identity), version, request, watch.get());
}

Status SharedSubmission::SubmitElsewhere(base::BlockingWorkers& workers, IdentityPtr identity,
                                         model::ModelVersion& version, RequestPtr& request,
                                         std::shared_ptr<model::SubmissionWatch> watch) {
  // The model must not run on the other thread, which has more requests to submit.
  request->may_run_inline = false;
  // Shared, because std::function must be copyable.
  const auto waiting = std::make_shared<Waiting>(
      Waiting{std::move(identity), version, std::move(request), std::move(watch)});
  if (workers.Run([waiting] { waiting->Submit(); })) return Status::Ok();
  request = std::move(waiting->request);
  return Status::Unavailable("too many requests with strings in shared memory wait");
}

}  // namespace nereid::server
