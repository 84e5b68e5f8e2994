// SPDX-License-Identifier: Apache-2.0
#include "model/warmup.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <span>

#include "base/files.h"
#include "base/usable_memory.h"
#include "model_config.pb.h"

namespace nereid::model {

using base::Status;
using tensor::DataType;

namespace {

using Sample = inference::ModelWarmup;
using SampleInput = inference::ModelWarmup::Input;

/// More than a client could send: the limit of a gRPC message is smaller.
constexpr uint64_t kMaxInputBytes = uint64_t{4} << 30;
/// The requests of one execution. Each costs memory however small its data.
constexpr uint32_t kMaxRequests = 65'536;

/// Triton's prefix of messages about a request without an id.
Status Invalid(const std::string& text) {
  return Status::InvalidArgument("[request id: <id_unknown>] " + text);
}

/// Returns the bytes of this input if its content is zeros.
base::Result<uint64_t> SizeOf(const std::string& name, const SampleInput& input) {
  const std::vector<int64_t> dims(input.dims().begin(), input.dims().end());
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) {
    return Status::InvalidArgument(
        "warmup setting expects all variable-size dimensions are specified for input '" + name +
        "'");
  }
  const auto type = static_cast<DataType>(input.data_type());
  if (type == DataType::kInvalid) return uint64_t{0};  // the request will be refused
  const auto size = tensor::ZeroByteSize(type, dims);
  if (size && *size <= kMaxInputBytes) return *size;
  return Invalid("warmup setting of input '" + name + "' asks for dims " + tensor::ShapeText(dims) +
                 ", which is more than the " + std::to_string(kMaxInputBytes) +
                 " bytes that an input may have");
}

template <typename Value>
void Put(std::span<char> bytes, size_t index, Value value) {
  std::memcpy(bytes.data() + index * sizeof(Value), &value, sizeof(Value));
}

/// Fills floating-point tensors with numbers in [0, 1) instead of random bits: NaN and denormals
/// would take slower or other paths than real data.
void FillRandom(DataType type, std::span<char> bytes) {
  std::mt19937_64 random(bytes.size());  // NOLINT(cert-msc51-cpp): the same data at every load
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  switch (type) {
    case DataType::kFp64:
      for (size_t i = 0; i < bytes.size() / 8; ++i) Put(bytes, i, unit());
      return;
    case DataType::kFp32:
      for (size_t i = 0; i < bytes.size() / 4; ++i) Put(bytes, i, static_cast<float>(unit()));
      return;
    case DataType::kFp16:
      // A positive half with an exponent field from 0 to 14 is below 1.
      for (size_t i = 0; i < bytes.size() / 2; ++i) {
        Put(bytes, i, static_cast<uint16_t>(random() % (15u << 10)));
      }
      return;
    case DataType::kBf16:
      // The upper half of a float in [0.5, 1).
      for (size_t i = 0; i < bytes.size() / 2; ++i) {
        Put(bytes, i, static_cast<uint16_t>(0x3F00u | (random() & 0x7Fu)));
      }
      return;
    case DataType::kBool:
      for (char& byte : bytes) byte = static_cast<char>(random() & 1);
      return;
    default:
      for (char& byte : bytes) byte = static_cast<char>(random());
  }
}

base::Result<memory::HostBuffer> Allocate(const std::string& name, uint64_t size) {
  memory::HostBuffer buffer = memory::HostBuffer::Allocate(size);
  if (size > 0 && !buffer) {
    return Status::Unavailable("out of memory: warmup input '" + name + "' needs " +
                               std::to_string(size) + " bytes");
  }
  return buffer;
}

base::Result<memory::HostBuffer> FileData(const std::string& name, const SampleInput& input,
                                          uint64_t needed, const ReadWarmupFile& read_file) {
  NEREID_ASSIGN_OR_RETURN(const std::string content, read_file(input.input_data_file()));
  // The content of a BYTES tensor determines its length. For other types surplus bytes are ignored.
  const bool whole = input.data_type() == inference::TYPE_STRING;
  if (!whole && content.size() < needed) {
    return Invalid("warmup setting expects " + std::to_string(needed) +
                   " bytes, but the data provided from " + input.input_data_file() + " only has " +
                   std::to_string(content.size()) + " bytes");
  }
  NEREID_ASSIGN_OR_RETURN(auto buffer, Allocate(name, whole ? content.size() : needed));
  std::copy_n(content.data(), buffer.size(), buffer.data());
  return buffer;
}

base::Result<memory::HostBuffer> DataOf(const std::string& name, const SampleInput& input,
                                        const ReadWarmupFile& read_file) {
  NEREID_ASSIGN_OR_RETURN(const uint64_t size, SizeOf(name, input));
  switch (input.input_data_type_case()) {
    case SampleInput::kInputDataFile:
      return FileData(name, input, size, read_file);
    case SampleInput::kZeroData:
    case SampleInput::kRandomData:
      break;
    default:
      return Invalid("warmup setting expects input '" + name + "' to have input_data_type set");
  }
  NEREID_ASSIGN_OR_RETURN(auto buffer, Allocate(name, size));
  // Random bytes are not valid BYTES elements, so these elements are empty.
  if (input.has_random_data() && input.data_type() != inference::TYPE_STRING) {
    FillRandom(static_cast<DataType>(input.data_type()), {buffer.data(), buffer.size()});
  } else if (size > 0) {
    std::memset(buffer.data(), 0, size);
  }
  return buffer;
}

base::Result<WarmupSample> BuildSample(const config::ModelConfig& config, const Sample& sample,
                                       const ReadWarmupFile& read_file) {
  if (sample.batch_size() > kMaxRequests) {
    return Invalid("warmup sample '" + sample.name() + "' has batch_size " +
                   std::to_string(sample.batch_size()) + ", more than the " +
                   std::to_string(kMaxRequests) + " allowed");
  }
  WarmupSample built;
  built.name = sample.name();
  built.requests = sample.batch_size();
  built.executions = std::max<uint32_t>(1, sample.count());
  const std::map<std::string, SampleInput> sorted(sample.inputs().begin(), sample.inputs().end());
  for (const auto& [name, input] : sorted) {
    WarmupInput& made = built.inputs.emplace_back();
    made.name = name;
    made.type = static_cast<DataType>(input.data_type());
    const config::TensorSpec* spec = config.FindInput(name);
    made.is_control = spec == nullptr;
    const bool batched = config.max_batch_size() > 0 && !(spec != nullptr && spec->is_shape_tensor);
    if (batched) made.shape.push_back(1);
    made.shape.insert(made.shape.end(), input.dims().begin(), input.dims().end());
    NEREID_ASSIGN_OR_RETURN(auto data, DataOf(name, input, read_file));
    made.data = std::make_shared<const memory::HostBuffer>(std::move(data));
  }
  return built;
}

/// Checks the total size of generated data before allocating it: a few lines of configuration must
/// not exhaust the process's memory.
Status CheckTotal(const config::ModelConfig& config) {
  const uint64_t most = base::UsableMemoryBytes() / 2;
  uint64_t total = 0;
  for (const Sample& sample : config.proto().model_warmup()) {
    if (sample.batch_size() == 0) continue;
    for (const auto& [name, input] : sample.inputs()) {
      if (input.has_input_data_file()) continue;
      const auto size = SizeOf(name, input);
      if (!size.ok()) continue;  // BuildSample reports it
      total += *size;            // each is at most kMaxInputBytes
      if (total <= most) continue;
      return Status::Unavailable("out of memory: the inputs of model_warmup up to '" + name +
                                 "' of sample '" + sample.name() + "' take " +
                                 std::to_string(total) + " bytes, more than half of the " +
                                 std::to_string(2 * most) + " bytes that this process may use");
    }
  }
  return Status::Ok();
}

}  // namespace

base::Result<std::vector<WarmupSample>> BuildWarmupSamples(const config::ModelConfig& config,
                                                           const ReadWarmupFile& read_file) {
  std::vector<WarmupSample> samples;
  if (config.proto().model_warmup().empty()) return samples;
  NEREID_RETURN_IF_ERROR(CheckTotal(config));
  for (const Sample& sample : config.proto().model_warmup()) {
    if (sample.batch_size() == 0) continue;
    NEREID_ASSIGN_OR_RETURN(auto built, BuildSample(config, sample, read_file));
    samples.push_back(std::move(built));
  }
  return samples;
}

base::Result<std::string> ReadWarmupDirectory(const std::string& model_directory,
                                              const std::string& name) {
  const std::string directory = base::JoinPath(model_directory, "warmup");
  const std::string path = base::JoinPath(directory, name);
  if (!base::IsInside(directory, path)) {
    return Status::Unsupported("warmup file '" + name + "' is outside the directory " + directory);
  }
  auto content = base::ReadFile(path, kMaxInputBytes);
  if (!content.ok()) return Status::Internal(content.status().message());
  return content;
}

}  // namespace nereid::model
