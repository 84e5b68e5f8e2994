// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/execution.h"

#include <algorithm>
#include <cstring>

#include "nereid/backend/data_type.h"
#include "nereid/backend/log.h"
#include "tensorrt/logger.h"
#include "tensorrt/nv_types.h"
#include "tensorrt/shape_values.h"

namespace nereid::tensorrt {
namespace {

/// The runtime's type of a stream: the same object under another name.
cudaStream_t Handle(const CudaStream& stream) {
  return reinterpret_cast<cudaStream_t>(stream.get());
}

/// Returns the first dimension of an output of a graph that has computed more than was asked for:
/// that of the input with the same size.
int64_t AskedSize(int64_t computed, const GraphRange& range,
                  std::span<const std::vector<int64_t>> numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!range.upper[i].empty() && range.upper[i][0] == computed &&
        numbers[i][0] != range.upper[i][0]) {
      return numbers[i][0];
    }
  }
  return computed;
}

}  // namespace

#if NV_TENSORRT_MAJOR >= 10
void* OutputBuffer::reallocateOutputAsync(char const*, void*, uint64_t size, uint64_t,
                                          cudaStream_t) noexcept {
  return Allocate(size);
}
#else
void* OutputBuffer::reallocateOutput(char const*, void*, uint64_t size, uint64_t) noexcept {
  return Allocate(size);
}
#endif

void OutputBuffer::notifyShape(char const*, nvinfer1::Dims const& dims) noexcept { shape_ = dims; }

/// Returns memory of the driver, whose alignment is larger than TensorRT requires.
void* OutputBuffer::Allocate(uint64_t size) noexcept {
  CudaBuffer& buffer = on_host_ ? host_ : device_;
  const Error error = backend::Catching([&] { return buffer.Reserve(size); });
  if (error.ok()) {
    return buffer.data();
  }
  const Error ignored = backend::Catching([&]() -> Error {
    failure_ = error.message();
    return {};
  });
  return nullptr;
}

void OutputBuffer::Reset() {
  shape_ = {};
  shape_.nbDims = -1;
  failure_.clear();
}

Error OutputBuffer::Fetch(uint64_t size, bool stay, CudaStream* stream, const char** data,
                          bool* on_gpu) {
  if (size > (on_host_ ? host_ : device_).size()) {
    return Error::Internal("TensorRT gave an output of " + std::to_string(size) +
                           " bytes less memory");
  }
  *on_gpu = stay && !on_host_;
  if (*on_gpu) {
    *data = device_.data();
    return {};
  }
  if (!on_host_) {
    NEREID_BACKEND_TRY(host_.Reserve(size));
    NEREID_BACKEND_TRY(stream->Copy(host_.data(), device_.data(), size, "copy an output"));
  }
  *data = host_.data();
  return {};
}

Execution::Execution(const Engine* engine, Gpu* gpu, Streams* streams, const Options& options)
    : engine_(*engine), gpu_(gpu), streams_(*streams), options_(options) {
  for (const EngineTensor& input : engine->inputs()) {
    inputs_.emplace_back(gpu,
                         input.on_host ? CudaBuffer::Place::kHost : CudaBuffer::Place::kDevice);
  }
  for (const EngineTensor& output : engine->outputs()) {
    outputs_.push_back(std::make_unique<OutputBuffer>(gpu, output.on_host));
  }
}

Error Execution::Create(const Engine* engine, Gpu* gpu, Streams* streams, int profile,
                        const Options& options, std::unique_ptr<Execution>* execution) {
  std::unique_ptr<Execution> made(new Execution(engine, gpu, streams, options));
  NEREID_BACKEND_TRY(made->Prepare(profile));
  *execution = std::move(made);
  return {};
}

/// Returns the error for a refusal of TensorRT, with its reason.
Error Execution::Wrong(const std::string& what) const {
  for (const auto& output : outputs_) {
    if (!output->failure().empty()) {
      return {TRITONSERVER_ERROR_UNAVAILABLE, "TensorRT cannot " + what + ": " + output->failure()};
    }
  }
  return Error::Internal("TensorRT cannot " + what + Logger::Reason());
}

Error Execution::Prepare(int profile) {
  NEREID_BACKEND_TRY(engine_.NewContext(options_.memory, &context_));
  Logger::Forget();
  if (!context_->setOptimizationProfileAsync(profile, Handle(streams_.compute()))) {
    return Wrong("select profile " + std::to_string(profile));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::string& name = engine_.outputs()[i].signature.name;
    if (!context_->setOutputAllocator(name.c_str(), outputs_[i].get())) {
      return Wrong("use memory of this server for the output '" + name + "'");
    }
  }
  return streams_.compute().Wait();
}

bool Execution::InPlace(size_t input, const RunInput& given) const {
  constexpr uintptr_t kAlignment = 256;  // TensorRT's
  return given.on_gpu && !engine_.inputs()[input].on_host &&
         reinterpret_cast<uintptr_t>(given.data) % kAlignment == 0;
}

Error Execution::CopyInput(size_t input, const RunInput& given) {
  NEREID_BACKEND_TRY(inputs_[input].Reserve(given.size));
  if (!engine_.inputs()[input].on_host) {
    return streams_.inputs().Copy(inputs_[input].data(), given.data, given.size, "copy an input");
  }
  if (given.size != 0) {
    std::memcpy(inputs_[input].data(), given.data, given.size);
  }
  return {};
}

Error Execution::SetInputs(std::span<const RunInput> inputs) {
  Logger::Forget();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = engine_.inputs()[i].signature.name;
    nvinfer1::Dims dims;
    NEREID_BACKEND_TRY(ToNv(inputs[i].shape, &dims));
    if (!context_->setInputShape(name.c_str(), dims)) {
      return Wrong("take the shape " + backend::ShapeText(inputs[i].shape) + " of the input '" +
                   name + "'");
    }
    char* const address =
        InPlace(i, inputs[i]) ? const_cast<char*>(inputs[i].data) : inputs_[i].data();
    if (!context_->setTensorAddress(name.c_str(), address)) {
      return Wrong("take the input '" + name + "'");
    }
  }
  return {};
}

Error Execution::Enqueue() {
  for (const auto& output : outputs_) {
    output->Reset();
  }
  Logger::Forget();
  const auto enqueue = [&] { return context_->enqueueV3(Handle(streams_.compute())); };
  if (options_.one_launcher) {
    const base::MutexLock lock(gpu_->launching());
    return enqueue() ? Error() : Wrong("run the model");
  }
  return enqueue() ? Error() : Wrong("run the model");
}

Error Execution::Start(std::span<const RunInput> inputs, const Captured* graph) {
  if (graph == nullptr) {
    NEREID_BACKEND_TRY(SetInputs(inputs));
  }
  NEREID_BACKEND_TRY(streams_.InputsAreCopied());
  NEREID_BACKEND_TRY(graph == nullptr ? Enqueue() : graph->graph.Launch(streams_.compute()));
  return streams_.ComputationIsQueued();
}

Error Execution::Run(std::span<const RunInput> inputs,
                     std::span<const std::vector<int64_t>> numbers, std::span<const size_t> outputs,
                     std::span<framework::OutputTensor> results) {
  const auto run = [&]() -> Error {
    const int chosen = ChooseGraph(ranges_, numbers);
    const Captured* graph = chosen < 0 ? nullptr : graphs_[static_cast<size_t>(chosen)].get();
    // A run without graph may have moved the buffers that the graph uses.
    if (graph != nullptr && graph->memory != Memory()) {
      graph = nullptr;
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (graph != nullptr || !InPlace(i, inputs[i])) {
        NEREID_BACKEND_TRY(CopyInput(i, inputs[i]));
      }
    }
    NEREID_BACKEND_TRY(Start(inputs, graph));
    NEREID_BACKEND_TRY(Fetch(outputs, graph,
                             graph == nullptr ? nullptr : &ranges_[static_cast<size_t>(chosen)],
                             numbers, results));
    return streams_.Wait();
  };
  Error error = run();
  if (error.ok()) {
    return {};
  }
  // The state of the GPU explains more than TensorRT's refusal.
  const std::string failure = error.message();
  if (const Error lost = streams_.Settle(); !lost.ok()) {
    const std::string reason = lost.message();
    return {TRITONSERVER_ERROR_UNAVAILABLE,
            reason.find(failure) == std::string::npos ? failure + ". " + reason : reason};
  }
  return error;
}

Error Execution::Fetch(std::span<const size_t> outputs, const Captured* graph,
                       const GraphRange* range, std::span<const std::vector<int64_t>> numbers,
                       std::span<framework::OutputTensor> results) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t output = outputs[i];
    if (graph == nullptr && outputs_[output]->shape().nbDims < 0) {
      // TensorRT knows some shapes only after the computation.
      NEREID_BACKEND_TRY(streams_.compute().Wait());
    }
    NEREID_BACKEND_TRY(FetchOne(
        output, graph == nullptr ? outputs_[output]->shape() : graph->output_shapes[output], range,
        numbers, &results[i]));
  }
  return {};
}

Error Execution::FetchOne(size_t output, const nvinfer1::Dims& dims, const GraphRange* range,
                          std::span<const std::vector<int64_t>> numbers,
                          framework::OutputTensor* result) {
  const EngineTensor& tensor = engine_.outputs()[output];
  auto shape = FromNv(dims);
  if (shape && range != nullptr && !tensor.shape_tensor && !shape->empty()) {
    shape->front() = AskedSize(shape->front(), *range, numbers);
  }
  const int64_t size = shape ? tensor.ByteSize(*shape) : int64_t{-1};
  if (size < 0) {
    return Error::Internal("TensorRT gave no shape for the output '" + tensor.signature.name + "'");
  }
  result->data_type = tensor.signature.data_type;
  result->shape = tensor.layout.Padded(*shape);
  result->size = static_cast<uint64_t>(size);
  bool on_gpu = false;
  NEREID_BACKEND_TRY(outputs_[output]->Fetch(result->size,
                                             result->wanted_on_gpu && !tensor.shape_tensor,
                                             &streams_.outputs(), &result->data, &on_gpu));
  result->gpu = on_gpu ? gpu_->ordinal() : -1;
  return {};
}

std::vector<const void*> Execution::Memory() const {
  std::vector<const void*> memory;
  for (const CudaBuffer& input : inputs_) {
    memory.push_back(input.data());
  }
  for (const auto& output : outputs_) {
    memory.push_back(output->memory());
  }
  return memory;
}

Error Execution::CaptureGraphs(std::vector<GraphRange> ranges) {
  // The largest graph comes first, so that its buffers do not move when the others are captured.
  std::sort(ranges.begin(), ranges.end(),
            [](const GraphRange& a, const GraphRange& b) { return b.upper < a.upper; });
  for (GraphRange& range : ranges) {
    const Error error = Capture(range);
    NEREID_BACKEND_TRY(gpu_->CheckUsable());
    if (!error.ok()) {
      const Error ignored = streams_.Settle();
      NEREID_BACKEND_LOG(WARN, "a CUDA graph for the shapes " + backend::ShapeText(range.upper[0]) +
                                   ", ... is left out: " + error.message());
      continue;
    }
    ranges_.push_back(std::move(range));
  }
  return {};
}

/// Captures a graph. TensorRT must have run once with the same shapes before, which also allocates
/// the outputs: nothing may be allocated during the capture.
Error Execution::Capture(const GraphRange& range) {
  std::vector<RunInput> inputs;
  std::vector<std::string> zeros;
  zeros.reserve(range.upper.size());
  for (size_t i = 0; i < range.upper.size(); ++i) {
    const EngineTensor& tensor = engine_.inputs()[i];
    const std::span<const int64_t> shape =
        tensor.shape_tensor ? tensor.signature.dims : range.upper[i];
    const int64_t size = tensor.ByteSize(shape);
    if (size < 0) {
      return Error::InvalidArgument("the shape " + backend::ShapeText(shape) + " is too large");
    }
    std::string& data = zeros.emplace_back(static_cast<size_t>(size), '\0');
    if (tensor.shape_tensor) {
      WriteNumbers(tensor.signature.data_type, range.upper[i], &data);
    }
    inputs.push_back({shape, data.data(), data.size()});
    NEREID_BACKEND_TRY(CopyInput(i, inputs.back()));
  }
  NEREID_BACKEND_TRY(Start(inputs, nullptr));
  NEREID_BACKEND_TRY(streams_.Wait());
  NEREID_BACKEND_TRY(streams_.compute().Wait());
  auto captured = std::make_unique<Captured>();
  captured->memory = Memory();
  NEREID_BACKEND_TRY(captured->graph.Capture(gpu_, streams_.compute(), [&] { return Enqueue(); }));
  for (const auto& output : outputs_) {
    if (output->shape().nbDims < 0) {
      return Error::Unsupported("the shape of an output depends on the data");
    }
    captured->output_shapes.push_back(output->shape());
  }
  if (captured->memory != Memory()) {
    return Error::Internal("an output has moved");
  }
  graphs_.push_back(std::move(captured));
  return {};
}

}  // namespace nereid::tensorrt
