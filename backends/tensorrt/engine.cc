// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/engine.h"

#include <NvInferPlugin.h>

#include <fstream>
#include <iterator>
#include <mutex>

#include "nereid/backend/data_type.h"
#include "nereid/backend/log.h"
#include "tensorrt/nv_types.h"

namespace nereid::tensorrt {
namespace {

using nvinfer1::OptProfileSelector;

/// Writes TensorRT's messages to the server's log.
class Logger : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* message) noexcept override {
    const backend::Error ignored = backend::Catching([&]() -> backend::Error {
      const std::string text = std::string("TensorRT: ") + message;
      switch (severity) {
        case Severity::kINTERNAL_ERROR:
        case Severity::kERROR:
          NEREID_BACKEND_LOG(ERROR, text);
          break;
        case Severity::kWARNING:
          NEREID_BACKEND_LOG(WARN, text);
          break;
        default:
          NEREID_BACKEND_LOG(VERBOSE, text);
      }
      return {};
    });
  }
};

/// Returns the logger of the process. TensorRT keeps the first logger that it gets, so there is
/// only one.
Logger& TheLogger() {
  static Logger logger;
  static std::once_flag plugins;
  std::call_once(plugins, [] { initLibNvInferPlugins(&logger, ""); });
  return logger;
}

}  // namespace

Error Engine::Read(const std::string& path, std::unique_ptr<Engine>* engine) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error::InvalidArgument("the TensorRT plan '" + path + "' cannot be read");
  }
  const std::string plan((std::istreambuf_iterator<char>(file)), {});
  auto read = std::make_unique<Engine>();
  read->runtime_.reset(nvinfer1::createInferRuntime(TheLogger()));
  if (read->runtime_ == nullptr) {
    return Error::Internal("TensorRT cannot start; its reason is in the log");
  }
  read->engine_.reset(read->runtime_->deserializeCudaEngine(plan.data(), plan.size()));
  if (read->engine_ == nullptr) {
    return Error::InvalidArgument(
        "TensorRT refuses the plan '" + path +
        "' (its reason is in the log); a plan fits the TensorRT version and the GPU that it was "
        "made with");
  }
  read->Describe();
  *engine = std::move(read);
  return {};
}

void Engine::Describe() {
  for (int32_t i = 0; i < engine_->getNbIOTensors(); ++i) {
    const char* name = engine_->getIOTensorName(i);
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
    (tensor.input ? inputs_ : outputs_).push_back(std::move(tensor));
  }
}

Error Engine::ReadProfile(int index, Profile* profile) const {
  profile->index = index;
  for (const EngineTensor& input : inputs_) {
    ProfileRange& range = profile->inputs.emplace_back();
    NEREID_BACKEND_TRY(ReadRange(input, index, OptProfileSelector::kMIN, &range.least));
    NEREID_BACKEND_TRY(ReadRange(input, index, OptProfileSelector::kOPT, &range.best));
    NEREID_BACKEND_TRY(ReadRange(input, index, OptProfileSelector::kMAX, &range.most));
  }
  return {};
}

Error Engine::ReadRange(const EngineTensor& input, int profile, OptProfileSelector which,
                        std::vector<int64_t>* numbers) const {
  const char* name = input.signature.name.c_str();
  const auto unknown = [&] {
    return Error::Internal("TensorRT does not tell what profile " + std::to_string(profile) +
                           " allows of the input '" + input.signature.name + "'");
  };
  if (!input.shape_tensor) {
    auto dims = FromNv(engine_->getProfileShape(name, profile, which));
    if (!dims) {
      return unknown();
    }
    *numbers = std::move(*dims);
    return {};
  }
  // The shape of a shape tensor is fixed, and the profile limits its values.
  const int64_t count = backend::ElementCount(input.signature.dims);
  const int32_t* values = engine_->getProfileTensorValues(name, profile, which);
  if (values == nullptr || count < 0) {
    return unknown();
  }
  numbers->assign(values, values + count);
  return {};
}

}  // namespace nereid::tensorrt
