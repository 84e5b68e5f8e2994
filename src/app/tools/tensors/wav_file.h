// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "app/tools/tensors/tensor.h"
#include "base/result.h"

namespace nereid::app::tools {

/// A recording in a WAV file (RIFF): the parts of its head, and its samples as they are in the
/// file.
struct Recording {
  uint32_t rate = 0;  // frames in a second
  int64_t channels = 1;
  int64_t frames = 0;
  int bits = 16;          // of a sample: 8, 16, 24 or 32; with is_float 32 or 64
  bool is_float = false;  // IEEE 754; else PCM, which is unsigned with 8 bits and signed with more
  std::string_view samples;  // frame by frame, little-endian
};

/// Returns whether a file is a WAV file by its first bytes.
bool IsWav(std::string_view file);

/// Reads the head of a WAV file. The samples are a view of `file`. INVALID_ARGUMENT for a damaged
/// file, and for an encoding other than PCM and floating-point numbers.
base::Result<Recording> ParseWav(std::string_view file);

/// Makes the tensor of a recording: floating-point inputs get samples from -1 to 1, integers those
/// of the file if they have as many bits. One channel has the shape [frames]; more channels fit an
/// input one of whose last two dimensions is their number. `rate` is the rate that the model needs,
/// 0 if any will do. INVALID_ARGUMENT for a recording that the input cannot take; nothing is
/// resampled or mixed.
base::Result<Tensor> RecordingTensor(const TensorSpec& spec, const Recording& recording,
                                     uint32_t rate);

}  // namespace nereid::app::tools
