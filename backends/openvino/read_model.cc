// SPDX-License-Identifier: Apache-2.0
#include "openvino/read_model.h"

#include <cstdint>
#include <map>
#include <openvino/core/model.hpp>
#include <openvino/op/constant.hpp>
#include <openvino/op/util/multi_subgraph_base.hpp>
#include <utility>

#include "nereid/backend/data_type.h"
#include "openvino/check_file.h"
#include "openvino/ov_error.h"
#include "openvino/signature.h"

namespace nereid::openvino {
namespace {

using backend::ModelConfig;
using backend::TensorConfig;
using Shapes = std::map<ov::Output<ov::Node>, ov::PartialShape>;

/// Sets the shapes of the model's inputs to those in the configuration (RESHAPE_IO_LAYERS).
Error Reshape(const ModelConfig& config, ov::Model* model) {
  Shapes shapes;
  for (const TensorConfig& given : config.inputs) {
    for (const auto& input : model->inputs()) {
      if (input.get_names().count(given.name) == 0) {
        continue;
      }
      ov::PartialShape& shape = shapes[input];
      shape = ov::PartialShape(std::vector<ov::Dimension>{});
      if (config.batching() && HasBatch(input, config)) {
        shape.push_back(-1);
      }
      for (const int64_t dim : given.ModelDims()) {
        shape.push_back(dim);
      }
    }
  }
  return CatchOpenVino("model '" + config.name +
                           "': RESHAPE_IO_LAYERS cannot give the model the configuration's shapes",
                       [&]() -> Error {
                         model->reshape(shapes);
                         return {};
                       });
}

/// The largest number of elements of a tensor that is not a constant. OpenVINO's operators count in
/// 32 bits and would write outside the tensor.
constexpr int64_t kMaxElements = INT32_MAX;

Error CheckSizes(const std::string& what, const ov::Model& model) {
  for (const std::shared_ptr<ov::Node>& node : model.get_ops()) {
    if (const auto* nested = dynamic_cast<ov::op::util::MultiSubGraphOp*>(node.get())) {
      for (const auto& body : nested->get_functions()) {
        NEREID_BACKEND_TRY(CheckSizes(what, *body));
      }
    }
    if (ov::is_type<ov::op::v0::Constant>(node)) {
      continue;
    }
    for (const auto& output : node->outputs()) {
      const ov::PartialShape& shape = output.get_partial_shape();
      int64_t elements = 1;
      for (size_t i = 0; shape.rank().is_static() && i < shape.size(); ++i) {
        const int64_t dim = shape[i].get_min_length();
        if (dim > 0 &&
            (__builtin_mul_overflow(elements, dim, &elements) || elements > kMaxElements)) {
          return Error::InvalidArgument(what + ": the tensor that '" + node->get_friendly_name() +
                                        "' makes has the shape " + shape.to_string() +
                                        ", more than 2^31 elements");
        }
      }
    }
  }
  return {};
}

}  // namespace

Error SetBatch(const ModelConfig& config, const Settings& settings, ov::Model* model) {
  const ov::Dimension batch =
      settings.fixed_batch ? ov::Dimension(config.max_batch_size) : ov::Dimension::dynamic();
  Shapes shapes;
  for (const auto& input : model->inputs()) {
    ov::PartialShape shape = input.get_partial_shape();
    if (shape.rank().is_static() && shape.size() > 0 && HasBatch(input, config) &&
        (settings.fixed_batch || shape[0].is_static())) {
      shape[0] = batch;
      shapes[input] = shape;
    }
  }
  if (shapes.empty()) {
    return {};
  }
  const std::string what =
      settings.fixed_batch
          ? "SKIP_OV_DYNAMIC_BATCHSIZE fixes the batch to max_batch_size " +
                std::to_string(config.max_batch_size) + ", which the model does not allow"
          : "max_batch_size is " + std::to_string(config.max_batch_size) +
                ", but the batch of the model cannot vary; set max_batch_size to 0, or "
                "SKIP_OV_DYNAMIC_BATCHSIZE to YES";
  return CatchOpenVino("model '" + config.name + "': " + what, [&]() -> Error {
    model->reshape(shapes);
    return {};
  });
}

Error ReadModel(ov::Core* core, const ModelConfig& config, const Settings& settings,
                const std::string& path, std::shared_ptr<ov::Model>* model) {
  const std::string what = "model '" + config.name + "': '" + path + "' cannot be read";
  NEREID_BACKEND_TRY(CheckModelFile(what, path));
  NEREID_BACKEND_TRY(CatchOpenVino(what, [&]() -> Error {
    *model = core->read_model(path);
    return {};
  }));
  if (settings.reshape) {
    NEREID_BACKEND_TRY(Reshape(config, model->get()));
  }
  if (config.batching()) {
    NEREID_BACKEND_TRY(SetBatch(config, settings, model->get()));
  }
  return CatchOpenVino(what, [&] { return CheckSizes(what, **model); });
}

void HideFixedBatch(int64_t batch, framework::ModelSignature* signature) {
  for (auto* tensors : {&signature->inputs, &signature->outputs}) {
    for (framework::TensorSignature& tensor : *tensors) {
      if (!tensor.dims.empty() && tensor.dims[0] == batch) {
        tensor.dims[0] = -1;
      }
    }
  }
}

}  // namespace nereid::openvino
