// SPDX-License-Identifier: Apache-2.0

// The steps around the two models of examples/ocr, as a backend: what turns an image into the input
// of the one, its output into the input of the other, and that one's output into text.

#include "nereid/backend/plugin.h"

#include <vector>

#include "nereid/backend/batch.h"
#include "ocr_model.h"
#include "steps.h"

namespace nereid::ocr {
namespace {

// One for each instance; its Execute runs on one thread at a time.
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
