// SPDX-License-Identifier: Apache-2.0
#include "caffe2/model.h"

#include "caffe2/translate.h"

namespace nereid::caffe2 {
namespace {

Error Named(const std::string& model, const std::string& place, const Error& error) {
  return Error(TRITONSERVER_ErrorCode(error.get()),
               "model '" + model + "': '" + place + "': " + error.message());
}

Error OpenNets(const ModelConfig& config, onnxruntime::ModelSource* source) {
  NetPair nets;
  std::string place;
  NEREID_BACKEND_TRY(ReadNets(config, &nets, &place));
  std::vector<NetInput> inputs;
  Translation translation;
  Error failure = FindInputs(nets, config, &inputs);
  if (failure.ok()) {
    failure = TranslateNets(nets, inputs, kFillRoom, &translation);
  }
  if (!failure.ok()) {
    return Named(config.name, place, failure);
  }
  source->bytes = std::move(translation.model);
  source->output_names = std::move(translation.output_names);
  source->origin = place;
  source->kind = "net";
  source->backend = "Caffe2";
  source->ranks_declared = false;
  return {};
}

}  // namespace

NetDefModel::NetDefModel(const onnxruntime::Environment* environment)
    : OnnxModel(environment, OpenNets) {}

}  // namespace nereid::caffe2
