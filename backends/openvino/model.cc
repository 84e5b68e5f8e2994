// SPDX-License-Identifier: Apache-2.0
#include "openvino/model.h"

#include <filesystem>
#include <openvino/openvino.hpp>

#include "framework/complete_config.h"
#include "openvino/ov_error.h"
#include "openvino/ov_types.h"
#include "openvino/session.h"

namespace nereid::openvino {
namespace {

using backend::ModelConfig;
using framework::TensorSignature;

/// The name that clients use: the model's own, else its place.
template <typename Port>
std::string NameOf(const Port& port, const std::string& kind, size_t place) {
  return port.get_names().empty() ? kind + "_" + std::to_string(place) : port.get_any_name();
}

template <typename Port>
TensorSignature Describe(const Port& port, const std::string& kind, size_t place) {
  TensorSignature tensor;
  tensor.name = NameOf(port, kind, place);
  tensor.data_type = DataTypeOf(port.get_element_type());
  if (tensor.data_type == TRITONSERVER_TYPE_INVALID) {
    tensor.foreign_type = port.get_element_type().get_type_name();
  }
  const ov::PartialShape shape = port.get_partial_shape();
  tensor.has_rank = shape.rank().is_static();
  for (size_t i = 0; tensor.has_rank && i < shape.size(); ++i) {
    tensor.dims.push_back(shape[i].is_static() ? shape[i].get_length() : -1);
  }
  return tensor;
}

framework::ModelSignature DescribeModel(const ov::Model& model) {
  framework::ModelSignature signature;
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    signature.inputs.push_back(Describe(model.inputs()[i], "input", i));
  }
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    signature.outputs.push_back(Describe(model.outputs()[i], "output", i));
  }
  return signature;
}

/// RESHAPE_IO_LAYERS: gives the model's inputs the shapes of the configuration.
Error Reshape(const ModelConfig& config, ov::Model* model) {
  bool wanted = false;
  const std::string* text = config.parameters.Find("RESHAPE_IO_LAYERS");
  wanted = text != nullptr && (*text == "YES" || *text == "yes" || *text == "1" || *text == "true");
  if (!wanted) {
    return {};
  }
  std::map<std::string, ov::PartialShape> shapes;
  for (const auto& input : config.inputs) {
    ov::PartialShape& shape = shapes[input.name];
    shape = ov::PartialShape(std::vector<ov::Dimension>{});
    if (config.batching()) {
      shape.push_back(-1);
    }
    for (const int64_t dim : input.ModelDims()) {
      shape.push_back(dim);
    }
  }
  model->reshape(shapes);
  return {};
}

/// The settings of the CPU device, by the names of Triton's OpenVINO backend and by OpenVINO's own.
Error MakeProperties(const ModelConfig& config, ov::AnyMap* properties) {
  const backend::Parameters& parameters = config.parameters;
  constexpr int64_t kMost = 1024;
  int64_t threads = 0;
  NEREID_BACKEND_TRY(parameters.ReadInt("cpu_threads_per_instance", 0, kMost, &threads));
  threads *= config.instance_count;
  for (const char* key : {"CPU_THREADS_NUM", "INFERENCE_NUM_THREADS"}) {
    NEREID_BACKEND_TRY(parameters.ReadInt(key, 0, kMost, &threads));
  }
  if (threads > 0) {
    properties->emplace(ov::inference_num_threads(static_cast<int32_t>(threads)));
  }
  int64_t streams = config.instance_count;
  for (const char* key : {"CPU_THROUGHPUT_STREAMS", "NUM_STREAMS"}) {
    if (const std::string* text = parameters.Find(key); text != nullptr && *text == "AUTO") {
      streams = -1;
    } else {
      NEREID_BACKEND_TRY(parameters.ReadInt(key, 1, kMost, &streams));
    }
  }
  properties->emplace(streams < 0 ? ov::num_streams(ov::streams::AUTO)
                                  : ov::num_streams(static_cast<int32_t>(streams)));
  return {};
}

}  // namespace

Error Environment::Load(TRITONBACKEND_Backend* backend) {
  NEREID_BACKEND_TRY(backend::ReadBackendConfig(backend, &settings));
  return CatchOpenVino("OpenVINO cannot be started", [&]() -> Error {
    core = std::make_unique<ov::Core>();
    return {};
  });
}

Error OpenVinoModel::Read(std::shared_ptr<ov::Model>* model) const {
  const auto directory = std::filesystem::path(config_.directory) / std::to_string(config_.version);
  std::filesystem::path path =
      directory /
      (config_.default_model_filename.empty() ? "model.xml" : config_.default_model_filename);
  std::error_code failure;
  if (config_.default_model_filename.empty() && !std::filesystem::exists(path, failure)) {
    path = directory / "model.onnx";
  }
  if (!std::filesystem::exists(path, failure)) {
    return Error(TRITONSERVER_ERROR_NOT_FOUND,
                 "model '" + config_.name + "': there is no file " + path.string());
  }
  return CatchOpenVino("model '" + config_.name + "': " + path.string() + " cannot be loaded",
                       [&]() -> Error {
                         *model = environment_.core->read_model(path.string());
                         return Reshape(config_, model->get());
                       });
}

Error OpenVinoModel::Load(TRITONBACKEND_Model* model) {
  NEREID_BACKEND_TRY(backend::ReadModelConfig(model, &config_));
  std::shared_ptr<ov::Model> read;
  NEREID_BACKEND_TRY(Read(&read));
  framework::ModelSignature signature;
  NEREID_BACKEND_TRY(CatchOpenVino("model '" + config_.name + "'", [&]() -> Error {
    signature = DescribeModel(*read);
    return {};
  }));
  NEREID_BACKEND_TRY(framework::CompleteModel(model, signature, environment_.settings, &config_));
  auto plan = std::make_shared<framework::RunPlan>();
  NEREID_BACKEND_TRY(framework::MakePlan(config_, signature, "OpenVINO", plan.get()));
  plan_ = std::move(plan);
  ov::AnyMap properties;
  NEREID_BACKEND_TRY(MakeProperties(config_, &properties));
  return CatchOpenVino("model '" + config_.name + "' cannot be compiled", [&]() -> Error {
    compiled_ = environment_.core->compile_model(read, "CPU", properties);
    return {};
  });
}

Error OpenVinoModel::MakeRunner(TRITONBACKEND_ModelInstance* instance,
                                std::unique_ptr<framework::Runner>* runner) {
  NEREID_BACKEND_TRY(framework::RequireCpu(instance, config_, "OpenVINO"));
  return CatchOpenVino("model '" + config_.name + "'", [&]() -> Error {
    *runner = std::make_unique<framework::Runner>(
        plan_, MakeSession(plan_, compiled_.create_infer_request()));
    return {};
  });
}

}  // namespace nereid::openvino
