// SPDX-License-Identifier: Apache-2.0
#include "request/inference_response.h"

#include "request/response_sink.h"

namespace nereid::request {

InferenceResponse::InferenceResponse(std::shared_ptr<ResponseOrigin> origin)
    : origin_(std::move(origin)) {}

InferenceResponse::~InferenceResponse() {
  for (const auto& output : outputs_) {
    if (output->allocated) origin_->sink().ReleaseOutput(output.get());
  }
}

base::Result<Output*> InferenceResponse::AddOutput(std::string_view name, tensor::DataType type,
                                                   tensor::Shape shape) {
  for (const auto& output : outputs_) {
    if (output->name == name) {
      return base::Status::AlreadyExists("output '" + std::string(name) +
                                         "' already exists in the response of model '" +
                                         model().name + "'");
    }
  }
  auto& output = outputs_.emplace_back(std::make_unique<Output>());
  output->response = this;
  output->name = name;
  output->type = type;
  output->shape = std::move(shape);
  return output.get();
}

base::Status InferenceResponse::AllocateOutput(Output* output, size_t size,
                                               memory::MemoryType* type, int64_t* id) {
  if (output->allocated) {
    return base::Status::AlreadyExists("allocated buffer for output '" + output->name +
                                       "' already exists");
  }
  output->memory_type = *type;
  output->memory_type_id = *id;
  NEREID_RETURN_IF_ERROR(origin_->sink().AllocateOutput(output, size));
  output->allocated = true;
  // Without a buffer there are no bytes that the server could read.
  output->size = output->data == nullptr ? 0 : size;
  *type = output->memory_type;
  *id = output->memory_type_id;
  return base::Status::Ok();
}

base::Status InferenceResponse::LendOutput(Output* output, LentBytes bytes) {
  if (output->allocated) {
    return base::Status::AlreadyExists("allocated buffer for output '" + output->name +
                                       "' already exists");
  }
  const size_t size = bytes.size;
  NEREID_RETURN_IF_ERROR(origin_->sink().LendOutput(output, std::move(bytes)));
  output->allocated = true;
  output->size = size;
  return base::Status::Ok();
}

}  // namespace nereid::request
