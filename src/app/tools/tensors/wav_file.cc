// SPDX-License-Identifier: Apache-2.0
// The format: "RIFF", a size, "WAVE"; then chunks of a name (4 bytes), a size (4) and the content,
// which a byte follows if the size is odd. The chunk "fmt " has the encoding (2), channels (2),
// rate (4), bytes in a second (4), bytes of a frame (2), bits of a sample (2); with the encoding
// 0xfffe the real one is 8 bytes behind these. The chunk "data" has the samples.
#include "app/tools/tensors/wav_file.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>

#include "app/tools/tensors/number_cells.h"
#include "base/little_endian.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using tensor::DataType;

constexpr uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;
constexpr size_t kHeadBytes = 12, kChunkHeadBytes = 8, kFormatBytes = 16;
constexpr size_t kExtensibleAt = 24;  // of the real encoding
constexpr uint16_t kMaxChannels = 256;
/// Of all channels together: an hour with 32,000 frames in a second.
constexpr int64_t kMaxSamples = int64_t{1} << 27;
/// The size of samples that a program wrote without knowing how many would follow.
constexpr uint32_t kUnknownSize = 0xffffffff;

Status Broken(const std::string& why) {
  return Status::InvalidArgument("the WAV file is broken: " + why);
}

Status ReadFormat(std::string_view chunk, Recording* recording) {
  if (chunk.size() < kFormatBytes) return Broken("its chunk 'fmt ' is cut off");
  auto encoding = static_cast<uint16_t>(base::FromLittleEndian(chunk.substr(0, 2)));
  if (encoding == kExtensible && chunk.size() >= kExtensibleAt + 2) {
    encoding = static_cast<uint16_t>(base::FromLittleEndian(chunk.substr(kExtensibleAt, 2)));
  }
  const uint64_t channels = base::FromLittleEndian(chunk.substr(2, 2));
  recording->rate = static_cast<uint32_t>(base::FromLittleEndian(chunk.substr(4, 4)));
  recording->channels = static_cast<int64_t>(channels);
  recording->bits = static_cast<int>(base::FromLittleEndian(chunk.substr(14, 2)));
  recording->is_float = encoding == kFloat;
  const int bits = recording->bits;
  const bool is_known = encoding == kFloat ? bits == 32 || bits == 64
                                           : bits == 8 || bits == 16 || bits == 24 || bits == 32;
  if ((encoding != kPcm && encoding != kFloat) || !is_known) {
    return Status::InvalidArgument(
        "the WAV file has the encoding " + std::to_string(encoding) + " with " +
        std::to_string(bits) +
        " bits; expected PCM (1) of 8, 16, 24 or 32 bits or floating-point numbers (3) of 32 or "
        "64 bits");
  }
  if (channels < 1 || channels > kMaxChannels || recording->rate == 0) {
    return Broken(std::to_string(channels) + " channels, " + std::to_string(recording->rate) +
                  " frames in a second");
  }
  return {};
}

/// Returns sample number `index`: an integer of PCM as it is, or a number of the file.
double SampleOf(const Recording& recording, size_t index) {
  const auto size = static_cast<size_t>(recording.bits / 8);
  const uint64_t number = base::FromLittleEndian(recording.samples.substr(index * size, size));
  if (recording.is_float) {
    return size == 8 ? std::bit_cast<double>(number)
                     : static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(number)));
  }
  if (size == 1) return static_cast<double>(number);
  const int unused = 64 - recording.bits;
  return static_cast<double>(static_cast<int64_t>(number << unused) >> unused);
}

bool IsFloat(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kFp32 ||
         type == DataType::kFp64;
}

/// Returns the samples between -1 and 1.
double Scaled(const Recording& recording, double sample) {
  if (recording.is_float) return sample;
  if (recording.bits == 8) return (sample - 128) / 128;
  return sample / static_cast<double>(int64_t{1} << (recording.bits - 1));
}

bool TakesIntegers(DataType type, const Recording& recording) {
  if (recording.is_float) return false;
  return (type == DataType::kUint8 && recording.bits == 8) ||
         (type == DataType::kInt16 && recording.bits == 16) ||
         (type == DataType::kInt32 && recording.bits == 32);
}

/// Finds the shape of several channels: [..., frames, channels] or [..., channels, frames], as the
/// last two dimensions of the input say. Returns nothing if neither does.
std::optional<bool> ChannelsAreLast(const TensorSpec& spec, int64_t channels) {
  const size_t n = spec.dims.size();
  if (n >= 1 && spec.dims[n - 1] == channels) return true;
  if (n >= 2 && spec.dims[n - 2] == channels) return false;
  return std::nullopt;
}

Status CheckRecording(const TensorSpec& spec, const Recording& recording, uint32_t rate) {
  if (recording.frames > kMaxSamples / recording.channels) {
    return Status::InvalidArgument("the recording has " + std::to_string(recording.frames) +
                                   " frames of " + std::to_string(recording.channels) +
                                   " channels; at most 2^27 samples are sent: cut it, for example "
                                   "with sox IN OUT trim 0 60");
  }
  if (rate != 0 && rate != recording.rate) {
    return Status::InvalidArgument(
        "the recording has " + std::to_string(recording.rate) +
        " frames in a second, and --audio-rate says " + std::to_string(rate) +
        ": convert it, for example with sox IN -r " + std::to_string(rate) + " OUT");
  }
  if (!IsFloat(spec.type) && !TakesIntegers(spec.type, recording)) {
    return Status::InvalidArgument(
        "the input takes " + std::string(tensor::DataTypeName(spec.type)) +
        ", and the recording has " + (recording.is_float ? "floating-point numbers of " : "") +
        std::to_string(recording.bits) +
        " bits; UINT8, INT16 and INT32 take PCM of 8, 16 and 32 bits");
  }
  if (recording.channels > 1 && !ChannelsAreLast(spec, recording.channels)) {
    return Status::InvalidArgument(
        "the recording has " + std::to_string(recording.channels) + " channels, and the shape " +
        tensor::ShapeText(spec.dims) +
        " has no such dimension: mix them, for example with sox IN -c 1 OUT");
  }
  return {};
}

}  // namespace

bool IsWav(std::string_view file) {
  return file.size() >= kHeadBytes && file.starts_with("RIFF") && file.substr(8, 4) == "WAVE";
}

base::Result<Recording> ParseWav(std::string_view file) {
  if (!IsWav(file)) return Status::InvalidArgument("the file is no WAV file");
  Recording recording;
  bool has_format = false;
  std::string_view rest = file.substr(kHeadBytes);
  while (rest.size() >= kChunkHeadBytes) {
    const std::string_view name = rest.substr(0, 4);
    const uint64_t size = base::FromLittleEndian(rest.substr(4, 4));
    rest.remove_prefix(kChunkHeadBytes);
    if (name == "data") {
      if (!has_format) return Broken("its samples come before their description");
      if (size != kUnknownSize && size > rest.size()) {
        return Broken("it has " + std::to_string(rest.size()) + " of " + std::to_string(size) +
                      " bytes of samples");
      }
      const auto frame = static_cast<uint64_t>(recording.channels * (recording.bits / 8));
      const uint64_t bytes = std::min<uint64_t>(size, rest.size());
      recording.frames = static_cast<int64_t>(bytes / frame);
      recording.samples = rest.substr(0, bytes / frame * frame);
      return recording;
    }
    if (size > rest.size()) return Broken("a chunk is cut off");
    if (name == "fmt ") {
      NEREID_RETURN_IF_ERROR(ReadFormat(rest.substr(0, size), &recording));
      has_format = true;
    }
    rest.remove_prefix(std::min<size_t>(size + size % 2, rest.size()));
  }
  return Broken("it has no samples");
}

base::Result<Tensor> RecordingTensor(const TensorSpec& spec, const Recording& recording,
                                     uint32_t rate) {
  NEREID_RETURN_IF_ERROR(CheckRecording(spec, recording, rate));
  const auto channels = static_cast<size_t>(recording.channels);
  const auto frames = static_cast<size_t>(recording.frames);
  const bool interleaved =
      channels == 1 || ChannelsAreLast(spec, recording.channels).value_or(true);
  Tensor tensor{spec.name, spec.type, {recording.frames}, ""};
  if (channels > 1) {
    tensor.shape.insert(interleaved ? tensor.shape.end() : tensor.shape.begin(),
                        recording.channels);
  }
  const uint64_t cell = tensor::DataTypeByteSize(spec.type);
  tensor.bytes.reserve(frames * channels * cell);
  codec::json::Number number;
  for (size_t i = 0; i < frames * channels; ++i) {
    const size_t at = interleaved ? i : i % frames * channels + i / frames;
    const double sample = SampleOf(recording, at);
    if (IsFloat(spec.type)) {
      number.kind = codec::json::Number::Kind::kDouble;
      number.d = Scaled(recording, sample);
    } else if (sample < 0) {
      number.kind = codec::json::Number::Kind::kNegative;
      number.i = static_cast<int64_t>(sample);
    } else {
      number.kind = codec::json::Number::Kind::kUnsigned;
      number.u = static_cast<uint64_t>(sample);
    }
    NEREID_RETURN_IF_ERROR(AppendCell(spec.type, number, &tensor.bytes));
  }
  return tensor;
}

}  // namespace nereid::app::tools
