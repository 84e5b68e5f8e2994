// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nereid/backend/aligned_buffer.h"
#include "nereid/backend/batch.h"
#include "ocr_model.h"

namespace nereid::ocr {

/// Memory for inputs in several pieces; an instance keeps it.
struct Scratch {
  backend::AlignedBuffer first;
  backend::AlignedBuffer second;
};

/// Runs the model's step for one request and writes its outputs. Returns an error for the response
/// of the request.
backend::Error RunStep(const OcrModel& model, Scratch* scratch, backend::BatchMember* member);

}  // namespace nereid::ocr
