// SPDX-License-Identifier: Apache-2.0
#include "framework/mismatch.h"

#include "nereid/backend/data_type.h"

namespace nereid::framework {
namespace {

std::string CannotLoad(const std::string& model) {
  return "unable to load model '" + model + "', ";
}

std::string OfTensor(const std::string& model, const std::string& name) {
  return "model '" + model + "', tensor '" + name + "': ";
}

}  // namespace

Error WrongInputCount(const std::string& model, size_t configured, size_t provided) {
  return Error::InvalidArgument(CannotLoad(model) + "configuration expects " +
                                std::to_string(configured) + " inputs, model provides " +
                                std::to_string(provided));
}

Error UnexpectedTensor(const std::string& kind, const std::string& name,
                       const std::set<std::string>& allowed) {
  std::string names;
  for (const std::string& known : allowed) {
    names += (names.empty() ? "" : ", ") + known;
  }
  return Error::InvalidArgument("unexpected inference " + kind + " '" + name + "', allowed " +
                                kind + "s are: " + names);
}

Error WrongType(const std::string& model, const std::string& kind, const std::string& name,
                TRITONSERVER_DataType configured, TRITONSERVER_DataType provided) {
  return Error::InvalidArgument(CannotLoad(model) + "configuration expects datatype " +
                                backend::DataTypeToConfig(configured) + " for " + kind + " '" +
                                name + "', model provides TYPE_" +
                                TRITONSERVER_DataTypeString(provided));
}

Error WrongShape(const std::string& model, const std::string& name,
                 const std::vector<int64_t>& shape, const std::vector<int64_t>& dims,
                 bool batching) {
  return Error::InvalidArgument(
      OfTensor(model, name) + "the model expects " + std::to_string(shape.size()) +
      " dimensions (shape " + backend::ShapeText(shape) +
      ") but the model configuration specifies " + std::to_string(dims.size()) + " dimensions (" +
      (batching ? "an initial batch dimension because max_batch_size > 0 followed by the explicit "
                  "tensor shape, making complete "
                : "") +
      "shape " + backend::ShapeText(dims) + ")");
}

Error NoBatchDimension(const std::string& model, const std::string& name,
                       const std::vector<int64_t>& shape) {
  return Error::InvalidArgument(
      OfTensor(model, name) +
      "for the model to support batching the shape should have at least 1 dimension and the first "
      "dimension must be -1; but shape expected by the model is " +
      backend::ShapeText(shape));
}

Error WrongScalar(const std::string& model, const std::string& name,
                  const std::vector<int64_t>& dims) {
  return Error::InvalidArgument(
      CannotLoad(model) + "scalar tensor '" + name +
      "', should only provide 1 in the model configuration when the model doesn't support "
      "batching. Model configuration provided: " +
      backend::ShapeText(dims) + ".");
}

}  // namespace nereid::framework
