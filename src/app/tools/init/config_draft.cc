// SPDX-License-Identifier: Apache-2.0
#include "app/tools/init/config_draft.h"

#include <google/protobuf/stubs/strutil.h>

#include <algorithm>

#include "app/options/flag_words.h"
#include "config/init_comments.h"

namespace nereid::app::tools {
namespace {

std::string Quoted(const std::string& text) {
  // The escapes of the text format. UTF-8 characters stay readable.
  return "\"" + google::protobuf::strings::Utf8SafeCEscape(text) + "\"";
}

std::string Comment(const std::string& indent, const std::string& text) {
  return indent + "# " + OneLine(text) + "\n";
}

std::string DimsText(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (const int64_t dim : dims) text += (text.size() > 1 ? ", " : " ") + std::to_string(dim);
  return text + " ]";
}

std::string TensorText(const DraftTensor& tensor, bool batching) {
  const std::string unknown = "  " + std::string(config::kUnknownValueComment);
  std::string text = "  {\n";
  if (!tensor.note.empty()) text += Comment("    ", tensor.note);
  text += "    name: " + Quoted(tensor.name) +
          (tensor.is_example ? "  " + std::string(config::kExampleNameComment) : "") + "\n";
  const bool known = tensor.data_type != tensor::DataType::kInvalid;
  text += "    data_type: " +
          std::string(known ? tensor::DataTypeConfigName(tensor.data_type) : "TYPE_FP32") +
          (known ? "" : unknown) + "\n";
  std::vector<int64_t> dims = tensor.dims;
  if (!tensor.has_dims) dims = {-1};
  if (batching && tensor.has_dims && !dims.empty()) dims.erase(dims.begin());
  // A tensor without dims (besides the batch) has dims [ 1 ] for clients.
  const bool scalar = dims.empty();
  if (scalar) dims = {1};
  // A configuration cannot contain a dim of 0, so an empty dimension becomes a variable one.
  for (int64_t& dim : dims) dim = dim < 1 ? -1 : dim;
  text += "    dims: " + DimsText(dims) + (tensor.has_dims ? "" : unknown) + "\n";
  if (scalar && batching) {
    text += "    reshape { shape: [ ] }  # without the batch, the model's shape is empty\n";
  }
  return text + "  }";
}

std::string TensorsText(const char* list, const std::vector<DraftTensor>& tensors, bool batching) {
  if (tensors.empty()) return "";
  std::string text = std::string(list) + " [\n";
  for (const DraftTensor& tensor : tensors) {
    text += TensorText(tensor, batching) + (&tensor == &tensors.back() ? "\n" : ",\n");
  }
  return text + "]\n";
}

bool HasBatchDim(const DraftTensor& tensor) {
  return tensor.has_dims && !tensor.dims.empty() && tensor.dims.front() == -1;
}

}  // namespace

bool CanBatch(const ConfigDraft& draft) {
  if (draft.inputs.empty() && draft.outputs.empty()) return false;
  return std::all_of(draft.inputs.begin(), draft.inputs.end(), HasBatchDim) &&
         std::all_of(draft.outputs.begin(), draft.outputs.end(), HasBatchDim);
}

std::string WriteConfig(const ConfigDraft& draft, int32_t max_batch_size) {
  std::string text;
  for (const std::string& note : draft.notes) text += Comment("", note);
  if (draft.platform.empty()) {
    text += "backend: " + Quoted(draft.backend) + "\n";
  } else {
    text += "platform: " + Quoted(draft.platform) + "\n";
  }
  if (!draft.default_model_filename.empty()) {
    text += "default_model_filename: " + Quoted(draft.default_model_filename) + "\n";
  }
  const bool batching = max_batch_size > 0;
  text += "\n";
  if (draft.is_skeleton) {
    text += Comment("",
                    "Set this above 0 if the first dimension of every tensor is the batch, which "
                    "dims do not include.");
  } else if (batching) {
    text +=
        Comment("",
                "The first dimension of every tensor is variable. It is used as the batch; dims "
                "do not include it.");
  } else if (CanBatch(draft)) {
    text +=
        Comment("",
                "The model supports batches: to use them, set the maximum batch size and remove "
                "the first dimension from all dims.");
  } else {
    text +=
        Comment("", "Not every tensor has a variable first dimension, so requests cannot batch.");
  }
  text += "max_batch_size: " + std::to_string(max_batch_size) + "\n";
  const std::string inputs = TensorsText("input", draft.inputs, batching);
  if (!inputs.empty()) text += "\n" + inputs;
  const std::string outputs = TensorsText("output", draft.outputs, batching);
  if (!outputs.empty()) text += "\n" + outputs;
  if (max_batch_size > 1) {
    text += "\n" + Comment("", "Requests that wait together share an execution.") +
            (draft.queue_delay_us == 0 ? "dynamic_batching { }\n"
                                       : "dynamic_batching { max_queue_delay_microseconds: " +
                                             std::to_string(draft.queue_delay_us) + " }\n");
  }
  return text;
}

}  // namespace nereid::app::tools
