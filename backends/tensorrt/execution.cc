// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/execution.h"

#include "nereid/backend/data_type.h"
#include "tensorrt/nv_types.h"

namespace nereid::tensorrt {

void* OutputBuffer::reallocateOutput(char const*, void*, uint64_t size, uint64_t) noexcept {
  // CUDA's allocations have a larger alignment than TensorRT requires.
  const Error reserved = on_host_ ? host_.Reserve(size) : device_.Reserve(size);
  return !reserved.ok() ? nullptr : on_host_ ? host_.data() : device_.data();
}

void OutputBuffer::notifyShape(char const*, nvinfer1::Dims const& dims) noexcept { shape_ = dims; }

Error OutputBuffer::Fetch(uint64_t size, cudaStream_t stream, const char** data) {
  if (!on_host_) {
    NEREID_BACKEND_TRY(host_.Reserve(size));
    if (size != 0) {
      NEREID_BACKEND_TRY(CudaError(
          cudaMemcpyAsync(host_.data(), device_.data(), size, cudaMemcpyDeviceToHost, stream),
          "copy an output"));
    }
  }
  *data = host_.data();
  return {};
}

Error Execution::Create(const Engine* engine, int profile, std::unique_ptr<Execution>* execution) {
  std::unique_ptr<Execution> made(new Execution(engine));
  NEREID_BACKEND_TRY(made->Prepare(profile));
  *execution = std::move(made);
  return {};
}

Error Execution::Wrong(const std::string& what) const {
  return Error::Internal("TensorRT refuses " + what + "; its reason is in the log");
}

Error Execution::Prepare(int profile) {
  NEREID_BACKEND_TRY(stream_.Create());
  context_ = engine_.NewContext();
  if (context_ == nullptr) {
    return Wrong("an execution context (is there room on the GPU?)");
  }
  if (!context_->setOptimizationProfileAsync(profile, stream_.get())) {
    return Wrong("profile " + std::to_string(profile));
  }
  for (const EngineTensor& output : engine_.outputs()) {
    outputs_.push_back(std::make_unique<OutputBuffer>(output.on_host));
    if (!context_->setOutputAllocator(output.signature.name.c_str(), outputs_.back().get())) {
      return Wrong("the output '" + output.signature.name + "'");
    }
  }
  return stream_.Wait();
}

Error Execution::SetInput(size_t input, std::span<const int64_t> shape, const char* data,
                          uint64_t size) {
  const EngineTensor& tensor = engine_.inputs()[input];
  const char* name = tensor.signature.name.c_str();
  nvinfer1::Dims dims;
  NEREID_BACKEND_TRY(ToNv(shape, &dims));
  if (!context_->setInputShape(name, dims)) {
    return Wrong("the shape " + backend::ShapeText(shape) + " of the input '" +
                 tensor.signature.name + "'");
  }
  void* address = nullptr;
  if (tensor.on_host) {
    host_inputs_[input].assign(data, data + size);
    host_inputs_[input].resize(std::max<size_t>(size, 1));
    address = host_inputs_[input].data();
  } else {
    DeviceBuffer& buffer = device_inputs_[input];
    NEREID_BACKEND_TRY(buffer.Reserve(size));
    if (size != 0) {
      NEREID_BACKEND_TRY(CudaError(
          cudaMemcpyAsync(buffer.data(), data, size, cudaMemcpyHostToDevice, stream_.get()),
          "copy an input"));
    }
    address = buffer.data();
  }
  return context_->setTensorAddress(name, address)
             ? Error()
             : Wrong("the address of the input '" + tensor.signature.name + "'");
}

Error Execution::Run(std::span<const size_t> outputs, std::span<framework::OutputTensor> results) {
  for (const auto& output : outputs_) {
    output->Reset();
  }
  if (!context_->enqueueV3(stream_.get())) {
    // Waits for copies that may still read the memory of the caller.
    const Error waited = stream_.Wait();
    return Wrong("to run");
  }
  // Some output sizes are known only after the run.
  NEREID_BACKEND_TRY(stream_.Wait());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const EngineTensor& tensor = engine_.outputs()[outputs[i]];
    framework::OutputTensor& result = results[i];
    auto shape = FromNv(outputs_[outputs[i]]->shape());
    const int64_t size =
        shape ? backend::TensorByteSize(tensor.signature.data_type, *shape) : int64_t{-1};
    if (size < 0) {
      return Error::Internal("TensorRT gave no shape for the output '" + tensor.signature.name +
                             "'");
    }
    result.data_type = tensor.signature.data_type;
    result.shape = std::move(*shape);
    result.size = static_cast<uint64_t>(size);
    NEREID_BACKEND_TRY(outputs_[outputs[i]]->Fetch(result.size, stream_.get(), &result.data));
  }
  return stream_.Wait();
}

}  // namespace nereid::tensorrt
