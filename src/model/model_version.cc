// SPDX-License-Identifier: Apache-2.0
#include "model/model_version.h"

#include "base/clock.h"
#include "request/binding.h"
#include "request/normalize.h"
#include "request/response_factory.h"

namespace nereid::model {

base::Status Submit(std::shared_ptr<const request::ModelIdentity> identity, ModelVersion& version,
                    std::unique_ptr<request::InferenceRequest>& request) {
  request::BindRequest(*request, std::move(identity));
  base::Status status = request::Normalize(*request);
  if (status.ok()) {
    if (request->trace() != nullptr) request->TraceSubmission(base::SteadyClock().NowNs());
    status = version.Enqueue(request);
  }
  if (!status.ok()) {
    // The caller reports the error; without Disarm the factory would send one too.
    request->response_factory()->Disarm();
    request->Unbind();
  }
  return status;
}

}  // namespace nereid::model
