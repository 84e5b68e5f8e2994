// SPDX-License-Identifier: Apache-2.0
#include "request/classify.h"

#include <algorithm>
#include <cstring>

#include "tensor/classification.h"

namespace nereid::request {
namespace {

base::Status ClassifyOutput(const ModelIdentity& model, uint64_t count, Output* output) {
  if (output->memory_type == memory::MemoryType::kGpu) {
    return base::Status::Internal("output '" + output->name + "' is in GPU memory");
  }
  const bool batched = model.config != nullptr && model.config->max_batch_size() > 0;
  NEREID_ASSIGN_OR_RETURN(
      tensor::Classes classes,
      tensor::Classify(output->type, output->shape, {output->data, output->size}, batched, count,
                       model.LabelsOf(output->name)));
  memory::HostBuffer buffer = memory::HostBuffer::Allocate(classes.bytes.size());
  if (!buffer && !classes.bytes.empty()) {
    return base::Status::Unavailable("not enough memory for the classes of output '" +
                                     output->name + "'");
  }
  if (!classes.bytes.empty()) {
    std::memcpy(buffer.data(), classes.bytes.data(), classes.bytes.size());
  }
  output->type = tensor::DataType::kBytes;
  output->shape = std::move(classes.shape);
  output->owned = std::move(buffer);
  output->data = output->owned.data();
  output->size = classes.bytes.size();
  output->memory_type = memory::MemoryType::kCpu;
  output->memory_type_id = 0;
  return base::Status::Ok();
}

}  // namespace

base::Status Classify(std::span<const RequestedClasses> requested, InferenceResponse* response) {
  if (requested.empty()) return base::Status::Ok();
  for (const auto& output : response->outputs()) {
    const auto found = std::find_if(
        requested.begin(), requested.end(),
        [&](const RequestedClasses& candidate) { return candidate.output == output->name; });
    if (found == requested.end() || found->count == 0) continue;
    NEREID_RETURN_IF_ERROR(ClassifyOutput(response->model(), found->count, output.get()));
  }
  return base::Status::Ok();
}

}  // namespace nereid::request
