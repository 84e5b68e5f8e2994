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

/// Returns whether a tensor of shape `computed` begins with one of shape `asked`.
bool BeginsWith(const nvinfer1::Dims& computed, const nvinfer1::Dims& asked) {
  return asked.nbDims == computed.nbDims &&
         (asked.nbDims < 1 || (asked.d[0] >= 0 && asked.d[0] <= computed.d[0] &&
                               std::equal(asked.d + 1, asked.d + asked.nbDims, computed.d + 1)));
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

Execution::Execution(const Engine* engine, Gpu* gpu, Streams* streams, int profile,
                     const Options& options)
    : engine_(*engine),
      gpu_(gpu),
      streams_(*streams),
      profile_(profile),
      options_(options),
      graph_memory_(gpu, CudaBuffer::Place::kDevice) {
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
  std::unique_ptr<Execution> made(new Execution(engine, gpu, streams, profile, options));
  if (Error error = made->NewContext(options.memory, &made->context_); !error.ok()) {
    const Error ignored = streams->Settle();  // before the context goes away
    return error;
  }
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

Error Execution::NewContext(ContextMemory memory, std::unique_ptr<Context>* context) {
  NEREID_BACKEND_TRY(engine_.NewContext(memory, context));
  Logger::Forget();
  if (!(*context)->setOptimizationProfileAsync(profile_, Handle(streams_.compute()))) {
    return Wrong("select profile " + std::to_string(profile_));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::string& name = engine_.outputs()[i].signature.name;
    if (!(*context)->setOutputAllocator(name.c_str(), outputs_[i].get())) {
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

Error Execution::SetInputs(std::span<const RunInput> inputs, Context* context) const {
  Logger::Forget();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = engine_.inputs()[i].signature.name;
    nvinfer1::Dims dims;
    NEREID_BACKEND_TRY(ToNv(inputs[i].shape, &dims));
    if (!context->setInputShape(name.c_str(), dims)) {
      return Wrong("take the shape " + backend::ShapeText(inputs[i].shape) + " of the input '" +
                   name + "'");
    }
    char* const address =
        InPlace(i, inputs[i]) ? const_cast<char*>(inputs[i].data) : inputs_[i].data();
    if (!context->setTensorAddress(name.c_str(), address)) {
      return Wrong("take the input '" + name + "'");
    }
  }
  return {};
}

Error Execution::Enqueue(Context* context) {
  for (const auto& output : outputs_) {
    output->Reset();
  }
  Logger::Forget();
  const auto enqueue = [&] { return context->enqueueV3(Handle(streams_.compute())); };
  if (options_.one_launcher) {
    const base::MutexLock lock(gpu_->launching());
    return enqueue() ? Error() : Wrong("run the model");
  }
  return enqueue() ? Error() : Wrong("run the model");
}

Error Execution::Start(std::span<const RunInput> inputs, Context* context) {
  NEREID_BACKEND_TRY(SetInputs(inputs, context));
  NEREID_BACKEND_TRY(streams_.InputsAreCopied());
  NEREID_BACKEND_TRY(Enqueue(context));
  return streams_.ComputationIsQueued();
}

Error Execution::FindAskedShapes(std::span<const RunInput> inputs, const Captured& graph,
                                 bool* serves) {
  // The context that has no graph computes the shapes.
  NEREID_BACKEND_TRY(SetInputs(inputs, context_.get()));
  asked_shapes_.clear();
  *serves = true;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const EngineTensor& output = engine_.outputs()[i];
    const nvinfer1::Dims& computed = graph.output_shapes[i];
    asked_shapes_.push_back(
        output.shape_tensor ? computed : context_->getTensorShape(output.signature.name.c_str()));
    *serves = *serves && BeginsWith(computed, asked_shapes_.back());
  }
  return {};
}

Error Execution::FindGraph(std::span<const RunInput> inputs,
                           std::span<const std::vector<int64_t>> numbers, const Captured** graph) {
  *graph = nullptr;
  const int chosen = ChooseGraph(ranges_, numbers);
  if (chosen < 0) {
    return {};
  }
  const Captured& found = *graphs_[static_cast<size_t>(chosen)];
  // A run without graph may have moved the buffers that the graph uses.
  if (found.memory != Memory()) {
    return {};
  }
  const auto& upper = ranges_[static_cast<size_t>(chosen)].upper;
  bool serves = true;
  if (std::equal(numbers.begin(), numbers.end(), upper.begin(), upper.end())) {
    asked_shapes_ = found.output_shapes;
  } else {
    NEREID_BACKEND_TRY(FindAskedShapes(inputs, found, &serves));
  }
  if (serves) {
    *graph = &found;
  }
  return {};
}

Error Execution::Run(std::span<const RunInput> inputs,
                     std::span<const std::vector<int64_t>> numbers, std::span<const size_t> outputs,
                     std::span<framework::OutputTensor> results) {
  const auto run = [&]() -> Error {
    const Captured* graph = nullptr;
    for (size_t i = 0; i < inputs.size(); ++i) {
      // Values of shape tensors must be there before shapes can be asked for.
      if (engine_.inputs()[i].on_host) {
        NEREID_BACKEND_TRY(CopyInput(i, inputs[i]));
      }
    }
    NEREID_BACKEND_TRY(FindGraph(inputs, numbers, &graph));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!engine_.inputs()[i].on_host && (graph != nullptr || !InPlace(i, inputs[i]))) {
        NEREID_BACKEND_TRY(CopyInput(i, inputs[i]));
      }
    }
    if (graph == nullptr) {
      NEREID_BACKEND_TRY(Start(inputs, context_.get()));
    } else {
      NEREID_BACKEND_TRY(streams_.InputsAreCopied());
      NEREID_BACKEND_TRY(graph->graph.Launch(streams_.compute()));
      NEREID_BACKEND_TRY(streams_.ComputationIsQueued());
    }
    NEREID_BACKEND_TRY(Fetch(outputs, graph, results));
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
                       std::span<framework::OutputTensor> results) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t output = outputs[i];
    if (graph == nullptr && outputs_[output]->shape().nbDims < 0) {
      // TensorRT knows some shapes only after the computation.
      NEREID_BACKEND_TRY(streams_.compute().Wait());
    }
    NEREID_BACKEND_TRY(FetchOne(
        output, graph == nullptr ? outputs_[output]->shape() : asked_shapes_[output], &results[i]));
  }
  return {};
}

Error Execution::FetchOne(size_t output, const nvinfer1::Dims& dims,
                          framework::OutputTensor* result) {
  const EngineTensor& tensor = engine_.outputs()[output];
  const auto shape = FromNv(dims);
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
  if (!ranges.empty()) {
    NEREID_BACKEND_TRY(graph_memory_.Reserve(engine_.LentSize(profile_)));
  }
  for (GraphRange& range : ranges) {
    auto captured = std::make_unique<Captured>();
    const Error error = Capture(range, captured.get());
    if (!error.ok()) {
      const Error ignored = streams_.Settle();  // before the context goes away
    }
    NEREID_BACKEND_TRY(gpu_->CheckUsable());
    if (!error.ok()) {
      NEREID_BACKEND_LOG(WARN, "a CUDA graph for the shapes " + backend::ShapeText(range.upper[0]) +
                                   ", ... is left out: " + error.message());
      continue;
    }
    ranges_.push_back(std::move(range));
    graphs_.push_back(std::move(captured));
  }
  return {};
}

/// Captures a graph. TensorRT must have run once with the same shapes before, which also allocates
/// the outputs: nothing may be allocated during the capture.
Error Execution::Capture(const GraphRange& range, Captured* captured) {
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
  NEREID_BACKEND_TRY(NewContext(ContextMemory::kLent, &captured->context));
  Engine::LendMemory(graph_memory_.data(), graph_memory_.size(), captured->context.get());
  NEREID_BACKEND_TRY(Start(inputs, captured->context.get()));
  NEREID_BACKEND_TRY(streams_.Wait());
  NEREID_BACKEND_TRY(streams_.compute().Wait());
  captured->memory = Memory();
  NEREID_BACKEND_TRY(captured->graph.Capture(gpu_, streams_.compute(),
                                             [&] { return Enqueue(captured->context.get()); }));
  for (const auto& output : outputs_) {
    if (output->shape().nbDims < 0) {
      return Error::Unsupported("the shape of an output depends on the data");
    }
    captured->output_shapes.push_back(output->shape());
  }
  if (captured->memory != Memory()) {
    return Error::Internal("an output has moved");
  }
  return {};
}

}  // namespace nereid::tensorrt
