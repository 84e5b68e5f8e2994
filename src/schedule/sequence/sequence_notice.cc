// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_notice.h"

#include <utility>

#include "request/binding.h"
#include "request/discarding_sink.h"
#include "request/zero_block.h"

namespace nereid::schedule {

base::Result<bool> WantsSequenceEndNotice(const config::ModelConfig& config) {
  const std::string* const text = config.FindParameter(kSequenceEndNotice);
  if (text == nullptr || *text == "false") return false;
  if (*text == "true") return true;
  return base::Status::InvalidArgument("model '" + config.name() + "': parameter '" +
                                       kSequenceEndNotice + "' must be 'true' or 'false', got '" +
                                       *text + "'");
}

RequestPtr MakeSequenceEndNotice(const config::ModelConfig& config, const Sequence& sequence,
                                 std::shared_ptr<const request::ModelIdentity> model) {
  static const auto sink = std::make_shared<request::DiscardingSink>();
  static request::ZeroBlock zero_block;
  auto request = std::make_unique<request::InferenceRequest>();
  request->is_null = true;
  request->model_name = model->name;
  request->model_version = model->version;
  request->correlation_id = sequence.id;
  request->flags = request::kFlagSequenceEnd;
  request->batch_size = config.max_batch_size() > 0 ? 1 : 0;
  for (const config::TensorSpec& spec : config.inputs()) {
    if (spec.optional) continue;
    tensor::Shape shape = tensor::WithoutVariableDims(config.FullShape(spec));
    const auto size = tensor::ZeroByteSize(spec.data_type, shape);
    if (!size) return nullptr;
    auto zeros = zero_block.AtLeast(*size);
    if (zeros == nullptr) return nullptr;
    auto input = request->AddInput(spec.name, spec.data_type, shape);
    if (!input.ok()) return nullptr;
    (*input)->model_shape = spec.reshape ? tensor::WithoutVariableDims(*spec.reshape) : shape;
    if (spec.reshape && config.max_batch_size() > 0) {
      (*input)->model_shape.insert((*input)->model_shape.begin(), 1);
    }
    (*input)->Append(zeros.get(), *size);
    request->Hold(std::shared_ptr<const void>(std::move(zeros)));
  }
  request->SetSink(sink);
  request::BindRequest(*request, std::move(model));
  return request;
}

}  // namespace nereid::schedule
