// SPDX-License-Identifier: Apache-2.0

// A backend with the steps around the two models of examples/ocr: it converts an image to the input
// of the first model, the output of that model to the input of the second, and the output of the
// second to text.

#include "nereid/backend/plugin.h"

#include <vector>

#include "nereid/backend/batch.h"
#include "ocr_model.h"
#include "steps.h"

namespace nereid::ocr {
namespace {

// The object of one instance. Its Execute runs on one thread at a time.
class OcrInstance {
 public:
  explicit OcrInstance(OcrModel* model) : model_(*model) {}

  backend::Error Load(TRITONBACKEND_ModelInstance*) { return {}; }

  void Execute(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
               uint32_t count) {
    {
      backend::Batch batch(instance, requests, count, &members_);
      batch.ComputeStarts();
      for (size_t i = 0; i < batch.size(); ++i) {
        if (!batch.failed(i)) {
          batch.Fail(i, backend::Catching([&] { return RunStep(model_, &scratch_, &batch[i]); }));
        }
      }
      batch.ComputeEnds();
    }
    scratch_.first.Trim();
    scratch_.second.Trim();
  }

 private:
  const OcrModel& model_;
  Scratch scratch_;
  std::vector<backend::BatchMember> members_;
};

}  // namespace
}  // namespace nereid::ocr

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::ocr::OcrModel,
                      nereid::ocr::OcrInstance);
