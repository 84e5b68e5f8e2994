// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/engine.h"

#include <algorithm>

#include "nereid/backend/data_type.h"
#include "tensorrt/cuda.h"
#include "tensorrt/logger.h"
#include "tensorrt/nv_types.h"
#include "tensorrt/nv_version.h"
#include "tensorrt/plan_file.h"

namespace nereid::tensorrt {
namespace {

using nvinfer1::OptProfileSelector;

Error Deserialize(const EngineSource& source, nvinfer1::IRuntime* runtime,
                  std::unique_ptr<nvinfer1::ICudaEngine>* engine) {
  PlanFile plan;
  NEREID_BACKEND_TRY(plan.Open(source.path));
  Logger::Forget();
  engine->reset(runtime->deserializeCudaEngine(plan.data(), plan.size()));
  if (plan.IsBroken()) {
    engine->reset();
    return Error(TRITONSERVER_ERROR_UNAVAILABLE,
                 "the TensorRT plan '" + source.path +
                     "' became shorter while it was being read; load the model again");
  }
  return *engine != nullptr
             ? Error()
             : Error::InvalidArgument("TensorRT cannot read the plan '" + source.path + "'" +
                                      Logger::Reason() +
                                      "; a plan fits the version of TensorRT and the kind of GPU "
                                      "that it was made with");
}

Error PrepareRuntime(const EngineSource& source, nvinfer1::IRuntime* runtime) {
  runtime->setEngineHostCodeAllowed(source.host_code);
  if (source.dla_core < 0) {
    return {};
  }
  if (source.dla_core >= runtime->getNbDLACores()) {
    return Error::InvalidArgument("secondary_devices names the DLA core " +
                                  std::to_string(source.dla_core) + ", but the GPU has " +
                                  std::to_string(std::max(0, runtime->getNbDLACores())) +
                                  " DLA cores");
  }
  runtime->setDLACore(source.dla_core);
  return {};
}

}  // namespace

std::vector<int64_t> TensorLayout::Padded(std::span<const int64_t> shape) const {
  std::vector<int64_t> padded(shape.begin(), shape.end());
  if (linear || vectorized_dim < 0 || components < 2 ||
      static_cast<size_t>(vectorized_dim) >= padded.size()) {
    return padded;
  }
  int64_t& size = padded[static_cast<size_t>(vectorized_dim)];
  if (const int64_t rest = size % components; size > 0 && rest != 0) {
    size = size > INT64_MAX - components ? INT64_MAX : size + components - rest;
  }
  return padded;
}

int64_t EngineTensor::ByteSize(std::span<const int64_t> shape) const {
  return backend::TensorByteSize(signature.data_type, layout.Padded(shape));
}

Error Engine::Read(const TensorRtLibrary& library, const EngineSource& source,
                   std::unique_ptr<Engine>* engine) {
  auto read = std::make_unique<Engine>();
  NEREID_BACKEND_TRY(library.MakeRuntime(&read->runtime_));
  NEREID_BACKEND_TRY(PrepareRuntime(source, read->runtime_.get()));
  NEREID_BACKEND_TRY(Deserialize(source, read->runtime_.get(), &read->engine_));
  if (const Error error = read->Describe(); !error.ok()) {
    return Error(TRITONSERVER_ErrorCode(error.get()),
                 "the TensorRT plan '" + source.path + "' " + error.message());
  }
  *engine = std::move(read);
  return {};
}

Error Engine::Describe() {
#if NEREID_NV_VERSION < 1000
  if (engine_->hasImplicitBatchDimension()) {
    return Error::Unsupported(
        "was made without explicit batch dimensions; build it with an explicit batch");
  }
#endif
  if (profile_count() < 1) {
    return Error::InvalidArgument("has no optimization profile");
  }
  for (int32_t i = 0; i < engine_->getNbIOTensors(); ++i) {
    const char* name = engine_->getIOTensorName(i);
    if (name == nullptr) {
      return Error::InvalidArgument("has a tensor without a name");
    }
    NEREID_BACKEND_TRY(DescribeOne(name));
  }
  return {};
}

Error Engine::DescribeOne(const char* name) {
  EngineTensor tensor;
  tensor.signature.name = name;
  const nvinfer1::DataType type = engine_->getTensorDataType(name);
  if (const auto known = FromNv(type)) {
    tensor.signature.data_type = *known;
  } else {
    tensor.signature.foreign_type = NameOf(type);
  }
  if (auto dims = FromNv(engine_->getTensorShape(name))) {
    tensor.signature.has_rank = true;
    tensor.signature.dims = std::move(*dims);
  }
  tensor.input = engine_->getTensorIOMode(name) == nvinfer1::TensorIOMode::kINPUT;
  tensor.shape_tensor = engine_->isShapeInferenceIO(name);
  tensor.on_host = engine_->getTensorLocation(name) == nvinfer1::TensorLocation::kHOST;
  tensor.layout = ReadLayout(name, 0);
  for (int profile = 1; profile < profile_count(); ++profile) {
    if (ReadLayout(name, profile) != tensor.layout) {
      return Error::Unsupported("arranges the tensor '" + tensor.signature.name +
                                "' differently in profile 0 and in profile " +
                                std::to_string(profile) + "; build it with one format");
    }
  }
  if (tensor.layout.gaps) {
    return Error::Unsupported("has the tensor '" + tensor.signature.name + "' in the format '" +
                              tensor.layout.text +
                              "' of a DLA, whose size in memory is unknown; build it with another "
                              "format");
  }
  tensor.signature.shape_tensor = tensor.shape_tensor;
  tensor.signature.non_linear = !tensor.layout.linear;
  (tensor.input ? inputs_ : outputs_).push_back(std::move(tensor));
  return {};
}

TensorLayout Engine::ReadLayout(const char* name, int profile) const {
  using nvinfer1::TensorFormat;
  TensorLayout layout;
  const TensorFormat format = engine_->getTensorFormat(name, profile);
  layout.linear = format == TensorFormat::kLINEAR;
  if (layout.linear) {
    return layout;
  }
  const char* text = engine_->getTensorFormatDesc(name, profile);
  layout.text = text == nullptr ? "format " + std::to_string(static_cast<int>(format)) : text;
  layout.vectorized_dim = engine_->getTensorVectorizedDim(name, profile);
  layout.components = std::max(1, engine_->getTensorComponentsPerElement(name, profile));
  layout.gaps = format == TensorFormat::kDLA_LINEAR || format == TensorFormat::kDLA_HWC4;
  return layout;
}

Error Engine::ReadProfile(int index, Profile* profile) const {
  profile->index = index;
  for (const EngineTensor& input : inputs_) {
    ProfileRange& range = profile->inputs.emplace_back();
    NEREID_BACKEND_TRY(ReadRange(input, index, OptProfileSelector::kMIN, &range.least));
    NEREID_BACKEND_TRY(ReadRange(input, index, OptProfileSelector::kOPT, &range.best));
    NEREID_BACKEND_TRY(ReadRange(input, index, OptProfileSelector::kMAX, &range.most));
    if (range.least.size() != range.most.size() || range.best.size() != range.most.size()) {
      return Error::Internal("profile " + std::to_string(index) +
                             " of the TensorRT engine has ranges of different ranks for the input "
                             "'" +
                             input.signature.name + "'");
    }
  }
  return {};
}

Error Engine::ReadRange(const EngineTensor& input, int profile, OptProfileSelector which,
                        std::vector<int64_t>* numbers) const {
  // The shape of a shape tensor is fixed, and the profile limits its values.
  if (input.shape_tensor ? ReadValues(input, profile, which, numbers) : [&] {
        auto dims = FromNv(engine_->getProfileShape(input.signature.name.c_str(), profile, which));
        return dims && (numbers->swap(*dims), true);
      }()) {
    return {};
  }
  return Error::Internal("TensorRT does not tell what profile " + std::to_string(profile) +
                         " allows of the input '" + input.signature.name + "'");
}

// The functions that return the values of a shape tensor differ between the versions, and those
// that a version deprecates are the only ones that know values which were set by the old builder.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
bool Engine::ReadValues(const EngineTensor& input, int profile, OptProfileSelector which,
                        std::vector<int64_t>* numbers) const {
  const int64_t count = backend::ElementCount(input.signature.dims);
  // Many more values than a tensor can have dimensions mean nothing.
  constexpr int64_t kMaxValues = int64_t{4} * nvinfer1::Dims::MAX_DIMS;
  if (count < 0 || count > kMaxValues) {
    return false;
  }
  const char* name = input.signature.name.c_str();
#if NEREID_NV_VERSION >= 1011
  if (const int64_t* values = engine_->getProfileTensorValuesV2(name, profile, which)) {
    numbers->assign(values, values + count);
    return true;
  }
#endif
#if NEREID_NV_VERSION >= 1100
  return false;
#else
#if NEREID_NV_VERSION >= 1000
  const int32_t* values = engine_->getProfileTensorValues(name, profile, which);
#else
  const int32_t* values =
      engine_->getProfileShapeValues(profile, engine_->getBindingIndex(name), which);
#endif
  if (values == nullptr) {
    return false;
  }
  numbers->assign(values, values + count);
  return true;
#endif
}
#pragma GCC diagnostic pop

Error Engine::NewContext(ContextMemory memory,
                         std::unique_ptr<nvinfer1::IExecutionContext>* context) const {
  const base::MutexLock lock(making_);
  Logger::Forget();
#if NEREID_NV_VERSION >= 1000
  using Strategy = nvinfer1::ExecutionContextAllocationStrategy;
  context->reset(engine_->createExecutionContext(
      memory == ContextMemory::kStatic            ? Strategy::kSTATIC
      : memory == ContextMemory::kOnProfileChange ? Strategy::kON_PROFILE_CHANGE
                                                  : Strategy::kUSER_MANAGED));
#else
  if (memory == ContextMemory::kOnProfileChange) {
    return Error::Unsupported(
        "the parameter 'execution_context_allocation_strategy' needs TensorRT 10 or newer for "
        "ON_PROFILE_CHANGE");
  }
  context->reset(memory == ContextMemory::kStatic
                     ? engine_->createExecutionContext()
                     : engine_->createExecutionContextWithoutDeviceMemory());
#endif
  return *context != nullptr
             ? Error()
             : Error::Internal("TensorRT cannot make an execution context" + Logger::Reason() +
                               "; is there enough memory on the GPU?");
}

bool Engine::LetsContextsShare(Gpu* gpu, int profile) const {
  CudaStream stream;
  std::unique_ptr<nvinfer1::IExecutionContext> context;
  if (!stream.Create(gpu, 0).ok() || !NewContext(ContextMemory::kLent, &context).ok()) {
    return true;  // what is amiss fails the load of the instance, too
  }
  const bool selects =
      context->setOptimizationProfileAsync(profile, reinterpret_cast<cudaStream_t>(stream.get()));
  const Error ignored = stream.Wait();
  return selects;
}

size_t Engine::LentSize([[maybe_unused]] int profile) const {
#if NEREID_NV_VERSION >= 1001
  return static_cast<size_t>(
      std::max<int64_t>(0, engine_->getDeviceMemorySizeForProfileV2(profile)));
#elif NEREID_NV_VERSION >= 1000
  return engine_->getDeviceMemorySizeForProfile(profile);
#else
  return engine_->getDeviceMemorySize();
#endif
}

void Engine::LendMemory(void* memory, [[maybe_unused]] size_t size,
                        nvinfer1::IExecutionContext* context) {
#if NEREID_NV_VERSION >= 1001
  context->setDeviceMemoryV2(memory, static_cast<int64_t>(size));
#else
  context->setDeviceMemory(memory);
#endif
}

}  // namespace nereid::tensorrt
