// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/batch.h"
#include "ocr_model.h"

namespace nereid::ocr {

/// Memory for inputs that come in several pieces; an instance keeps it.
struct Scratch {
  backend::AlignedBuffer first;
  backend::AlignedBuffer second;
};

/// Runs the model's step for one request and writes its outputs. On failure, the error is the
/// request's answer.
backend::Error RunStep(const OcrModel& model, Scratch* scratch, backend::BatchMember* member);

}  // namespace nereid::ocr
