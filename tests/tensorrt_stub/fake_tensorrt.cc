// SPDX-License-Identifier: Apache-2.0
#include "fake_tensorrt.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "fake_plan.h"

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

namespace nereid::tensorrt::testing {
namespace {

using nvinfer1::Dims;
using nvinfer1::OptProfileSelector;

FakeTensorRt& Fake() { return *nereid_fake_tensorrt(); }

Dims ToDims(const std::vector<int64_t>& shape) {
  Dims dims = {};
  dims.nbDims = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), dims.d);
  return dims;
}

/// The functions of the fake CUDA driver that the fake uses.
struct Driver {
  int (*launch_host_function)(void* stream, void (*function)(void*), void* argument) = nullptr;
  void* (*host_address)(uint64_t address, size_t size) = nullptr;

  static const Driver& Get() {
    static const Driver driver = [] {
      Driver found;
      void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) {
        *reinterpret_cast<void**>(&found.launch_host_function) = dlsym(library, "cuLaunchHostFunc");
        *reinterpret_cast<void**>(&found.host_address) = dlsym(library, "fake_gpu_host_address");
      }
      return found;
    }();
    return driver;
  }
};

/// The memory that a context without its own needs.
constexpr int64_t kActivationBytes = 1024;

class FakeContext;

/// The computation of one output: a copy of an input, doubled for FP32. A CUDA graph that was
/// captured runs it again. The shapes are those that its context has at that time.
struct Job {
  FakeContext* context = nullptr;
  const FakeTensor* input = nullptr;
  void* from = nullptr;
  const FakeTensor* output = nullptr;
  void* to = nullptr;

  bool operator==(const Job&) const = default;
  static void Run(void* argument);
};

/// Returns where a tensor of a run is, in the memory of the host or the device.
char* Open(const FakeTensor& tensor, void* memory, size_t size) {
  return static_cast<char*>(
      tensor.on_host ? memory
                     : Driver::Get().host_address(reinterpret_cast<uint64_t>(memory), size));
}

/// Which contexts have selected the profiles of an engine.
using Selected = std::map<int32_t, int>;

class FakeContext : public nvinfer1::IExecutionContext {
 public:
  /// `lent`: the context has no memory of its own.
  FakeContext(const FakePlan* plan, Selected* selected, bool lent, nvinfer1::ILogger* logger)
      : plan_(*plan), selected_(*selected), lent_(lent), logger_(*logger) {
    ++Fake().contexts;
  }
  ~FakeContext() noexcept override {
    Leave();
    --Fake().contexts;
  }

  bool setOptimizationProfileAsync(int32_t profile, cudaStream_t) noexcept override {
    Leave();
    if (plan_.exclusive_profiles && selected_[profile] > 0) {
      logger_.log(nvinfer1::ILogger::Severity::kERROR, "another context uses the profile");
      return false;
    }
    profile_ = profile;
    ++selected_[profile];
    return !Fake().profile_fails && profile >= 0 &&
           static_cast<size_t>(profile) < plan_.profiles.size();
  }
  bool setInputShape(char const* name, Dims const& dims) noexcept override {
    dims_[name] = dims;
    const FakeTensor* tensor = plan_.Find(name);
    return tensor != nullptr && dims.nbDims == static_cast<int32_t>(tensor->dims.size());
  }
  bool setTensorAddress(char const* name, void* data) noexcept override {
    addresses_[name] = data;
    return data != nullptr;
  }
  bool setOutputAllocator(char const* name, nvinfer1::IOutputAllocator* to) noexcept override {
    allocators_[name] = to;
    return true;
  }
  void setDeviceMemoryV2(void* memory, int64_t size) noexcept override {
    has_memory_ = memory != nullptr && size >= kActivationBytes;
  }
  Dims getTensorShape(char const* name) const noexcept override {
    const FakeTensor* tensor = plan_.Find(name);
    const auto found =
        tensor == nullptr ? dims_.end() : dims_.find(tensor->input ? name : SourceOf(*tensor).name);
    Dims unknown = {};
    unknown.nbDims = -1;
    return found == dims_.end() ? unknown : found->second;
  }
  bool enqueueV3(cudaStream_t stream) noexcept override {
    FakeTensorRt& fake = Fake();
    ++fake.enqueued;
    if (lent_ && !has_memory_) {
      logger_.log(nvinfer1::ILogger::Severity::kERROR, "the context has no memory");
      return false;
    }
    if (fake.enqueue_fails) {
      logger_.log(nvinfer1::ILogger::Severity::kERROR, "a kernel cannot be launched");
      return false;
    }
    fake.last_profile = profile_;
    for (const FakeTensor& tensor : plan_.tensors) {
      if (tensor.input) {
        Record(tensor);
      }
    }
    for (const FakeTensor& tensor : plan_.tensors) {
      if (!tensor.input && !Compute(SourceOf(tensor), tensor, stream)) {
        logger_.log(nvinfer1::ILogger::Severity::kERROR, "an output cannot be computed");
        return false;
      }
    }
    return true;
  }

 private:
  void Record(const FakeTensor& input) {
    const Dims& dims = dims_[input.name];
    Fake().last_shapes[input.name].assign(dims.d, dims.d + dims.nbDims);
    if (!input.shape_tensor) {
      return;
    }
    std::vector<int64_t>& values = Fake().last_values[input.name];
    values.clear();
    const size_t count = dims.nbDims == 0 ? 1 : static_cast<size_t>(dims.d[0]);
    for (size_t i = 0; i < count; ++i) {
      values.push_back(input.type == nvinfer1::DataType::kINT64
                           ? static_cast<const int64_t*>(addresses_[input.name])[i]
                           : static_cast<const int32_t*>(addresses_[input.name])[i]);
    }
  }

  /// Returns the input of which an output is a copy.
  const FakeTensor& SourceOf(const FakeTensor& output) const {
    std::vector<const FakeTensor*> inputs;
    size_t index = 0;
    for (const FakeTensor& tensor : plan_.tensors) {
      if (tensor.input) {
        inputs.push_back(&tensor);
      } else if (&tensor < &output) {
        ++index;
      }
    }
    return *inputs[index % inputs.size()];
  }

  bool Compute(const FakeTensor& input, const FakeTensor& output, cudaStream_t stream) {
    const Dims& dims = dims_[input.name];
    Job job{this, &input, addresses_[input.name], &output, nullptr};
    nvinfer1::IOutputAllocator* allocator = allocators_[output.name];
    job.to = allocator->reallocateOutputAsync(output.name.c_str(), nullptr, output.ByteSize(dims),
                                              256, stream);
    if (job.to == nullptr) {
      return false;
    }
    allocator->notifyShape(output.name.c_str(), dims);
    // A graph that was captured runs the job again, so it is kept.
    auto kept = std::find_if(jobs_.begin(), jobs_.end(),
                             [&](const std::unique_ptr<Job>& known) { return *known == job; });
    if (kept == jobs_.end()) {
      kept = jobs_.insert(kept, std::make_unique<Job>(job));
    }
    return Driver::Get().launch_host_function != nullptr &&
           Driver::Get().launch_host_function(stream, Job::Run, kept->get()) == 0;
  }

  void Leave() {
    if (profile_ >= 0) {
      --selected_[profile_];
    }
    profile_ = -1;
  }

  const FakePlan& plan_;
  Selected& selected_;
  const bool lent_;
  bool has_memory_ = false;
  nvinfer1::ILogger& logger_;
  int32_t profile_ = -1;
  std::map<std::string, Dims> dims_;
  std::map<std::string, void*> addresses_;
  std::map<std::string, nvinfer1::IOutputAllocator*> allocators_;
  std::vector<std::unique_ptr<Job>> jobs_;
};

void Job::Run(void* argument) {
  const Job& job = *static_cast<const Job*>(argument);
  const Dims dims = job.context->getTensorShape(job.input->name.c_str());
  const size_t read = job.input->ByteSize(dims);
  const size_t size = std::min(read, job.output->ByteSize(dims));
  if (size == 0) {
    return;
  }
  const char* from = Open(*job.input, job.from, read);
  char* to = Open(*job.output, job.to, job.output->ByteSize(dims));
  if (from == nullptr || to == nullptr) {
    Fake().overrun = true;
    return;
  }
  std::memmove(to, from, size);
  if (job.input->type == nvinfer1::DataType::kFLOAT) {
    for (size_t i = 0; i < size / sizeof(float); ++i) {
      float value = 0;
      std::memcpy(&value, to + i * sizeof(float), sizeof(float));
      value *= 2;
      std::memcpy(to + i * sizeof(float), &value, sizeof(float));
    }
  }
}

class FakeEngine : public nvinfer1::ICudaEngine {
 public:
  FakeEngine(FakePlan plan, nvinfer1::ILogger* logger) : plan_(std::move(plan)), logger_(logger) {
    ++Fake().engines;
  }
  ~FakeEngine() noexcept override { --Fake().engines; }

  int32_t getNbIOTensors() const noexcept override {
    return static_cast<int32_t>(plan_.tensors.size());
  }
  char const* getIOTensorName(int32_t index) const noexcept override {
    return plan_.tensors[static_cast<size_t>(index)].name.c_str();
  }
  nvinfer1::TensorIOMode getTensorIOMode(char const* name) const noexcept override {
    return Tensor(name).input ? nvinfer1::TensorIOMode::kINPUT : nvinfer1::TensorIOMode::kOUTPUT;
  }
  Dims getTensorShape(char const* name) const noexcept override {
    return ToDims(Tensor(name).dims);
  }
  nvinfer1::DataType getTensorDataType(char const* name) const noexcept override {
    return Tensor(name).type;
  }
  nvinfer1::TensorLocation getTensorLocation(char const* name) const noexcept override {
    return Tensor(name).on_host ? nvinfer1::TensorLocation::kHOST
                                : nvinfer1::TensorLocation::kDEVICE;
  }
  bool isShapeInferenceIO(char const* name) const noexcept override {
    return Tensor(name).shape_tensor;
  }
  nvinfer1::TensorFormat getTensorFormat(char const* name, int32_t) const noexcept override {
    return Tensor(name).format;
  }
  char const* getTensorFormatDesc(char const* name, int32_t) const noexcept override {
    switch (Tensor(name).format) {
      case nvinfer1::TensorFormat::kHWC8:
        return "channels last, in units of 8";
      case nvinfer1::TensorFormat::kCHW4:
        return "4 channels together";
      default:
        return "row major";
    }
  }
  int32_t getTensorVectorizedDim(char const* name, int32_t) const noexcept override {
    return Tensor(name).vectorized_dim;
  }
  int32_t getTensorComponentsPerElement(char const* name, int32_t) const noexcept override {
    return Tensor(name).components;
  }
  int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<int32_t>(plan_.profiles.size());
  }
  Dims getProfileShape(char const* name, int32_t profile,
                       OptProfileSelector select) const noexcept override {
    const std::vector<int64_t>* numbers = Numbers(name, profile, select);
    Dims dims = ToDims(numbers == nullptr ? std::vector<int64_t>() : *numbers);
    dims.nbDims = numbers == nullptr ? -1 : dims.nbDims;
    return dims;
  }
  int32_t const* getProfileTensorValues(char const*, int32_t,
                                        OptProfileSelector) const noexcept override {
    return nullptr;
  }
  int64_t const* getProfileTensorValuesV2(char const* name, int32_t profile,
                                          OptProfileSelector select) const noexcept override {
    const std::vector<int64_t>* numbers = Numbers(name, profile, select);
    return numbers == nullptr ? nullptr : numbers->data();
  }
  int64_t getDeviceMemorySizeForProfileV2(int32_t) const noexcept override {
    return kActivationBytes;
  }
  nvinfer1::IExecutionContext* createExecutionContext(
      nvinfer1::ExecutionContextAllocationStrategy strategy) noexcept override {
    if (Fake().no_context) {
      logger_->log(nvinfer1::ILogger::Severity::kERROR, "there is no room for the context");
      return nullptr;
    }
    return new FakeContext(&plan_, &selected_,
                           strategy == nvinfer1::ExecutionContextAllocationStrategy::kUSER_MANAGED,
                           logger_);
  }

 private:
  const FakeTensor& Tensor(const char* name) const { return *plan_.Find(name); }
  const std::vector<int64_t>* Numbers(const char* name, int32_t profile,
                                      OptProfileSelector select) const {
    const auto& ranges = plan_.profiles[static_cast<size_t>(profile)];
    const auto found = ranges.find(name);
    return found == ranges.end() ? nullptr : &found->second.numbers[static_cast<size_t>(select)];
  }

  const FakePlan plan_;
  nvinfer1::ILogger* const logger_;
  Selected selected_;
};

class FakeRuntime : public nvinfer1::IRuntime {
 public:
  explicit FakeRuntime(nvinfer1::ILogger* logger) : logger_(logger) {}

  void setDLACore(int32_t core) noexcept override { Fake().last_dla_core = core; }
  int32_t getNbDLACores() const noexcept override { return 2; }
  void setEngineHostCodeAllowed(bool allowed) noexcept override { host_code_ = allowed; }
  nvinfer1::ICudaEngine* deserializeCudaEngine(void const* blob,
                                               std::size_t size) noexcept override {
    ++Fake().plans_read;
    FakePlan plan;
    std::string reason;
    if (!plan.Parse({static_cast<const char*>(blob), size}, &reason)) {
      logger_->log(nvinfer1::ILogger::Severity::kERROR, reason.c_str());
      return nullptr;
    }
    if (plan.needs_host_code && !host_code_) {
      logger_->log(nvinfer1::ILogger::Severity::kERROR, "code for the host is not allowed");
      return nullptr;
    }
    return new FakeEngine(std::move(plan), logger_);
  }

 private:
  nvinfer1::ILogger* const logger_;
  bool host_code_ = false;
};

}  // namespace
}  // namespace nereid::tensorrt::testing

FAKE_EXPORT nereid::tensorrt::testing::FakeTensorRt* nereid_fake_tensorrt() {
  static nereid::tensorrt::testing::FakeTensorRt fake;
  return &fake;
}

FAKE_EXPORT int32_t getInferLibVersion() { return static_cast<int32_t>(NV_TENSORRT_VERSION); }

FAKE_EXPORT void* createInferRuntime_INTERNAL(void* logger, int32_t version) {
  auto* const log = static_cast<nvinfer1::ILogger*>(logger);
  if (nereid_fake_tensorrt()->start_fails) {
    log->log(nvinfer1::ILogger::Severity::kERROR, "CUDA initialization failure with error: 35");
    return reinterpret_cast<void*>(0x228);
  }
  if (version != NV_TENSORRT_VERSION) {
    return nullptr;
  }
  if (nereid_fake_tensorrt()->start_complains) {
    log->log(nvinfer1::ILogger::Severity::kERROR, "a tactic source is missing");
  }
  return static_cast<nvinfer1::IRuntime*>(new nereid::tensorrt::testing::FakeRuntime(log));
}
