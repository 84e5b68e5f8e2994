// SPDX-License-Identifier: Apache-2.0
#include "model/model_version.h"

#include "base/clock.h"
#include "request/binding.h"
#include "request/normalize.h"
#include "request/response_factory.h"

namespace nereid::model {
namespace {

/// `on_bound` is called with the bound, normalized request.
template <typename OnBound>
base::Status SubmitWith(std::shared_ptr<const request::ModelIdentity> identity,
                        RequestReceiver& receiver,
                        std::unique_ptr<request::InferenceRequest>& request,
                        const OnBound& on_bound) {
  request::BindRequest(*request, std::move(identity));
  base::Status status = request::Normalize(*request);
  if (status.ok()) {
    on_bound(*request);
    if (request->trace() != nullptr) request->TraceSubmission(base::SteadyClock().NowNs());
    status = receiver.Enqueue(request);
  }
  if (!status.ok()) {
    // The caller reports the error; without Disarm the factory would send one too.
    request->response_factory()->Disarm();
    request->Unbind();
  }
  return status;
}

}  // namespace

base::Status Submit(std::shared_ptr<const request::ModelIdentity> identity,
                    RequestReceiver& receiver,
                    std::unique_ptr<request::InferenceRequest>& request) {
  return SubmitWith(std::move(identity), receiver, request, [](request::InferenceRequest&) {});
}

base::Status Submit(std::shared_ptr<const request::ModelIdentity> identity,
                    RequestReceiver& receiver, std::unique_ptr<request::InferenceRequest>& request,
                    SubmissionWatch& watch) {
  base::Status status =
      SubmitWith(std::move(identity), receiver, request,
                 [&watch](request::InferenceRequest& bound) { watch.OnBound(bound); });
  if (!status.ok()) watch.OnRefused(status);
  return status;
}

}  // namespace nereid::model
