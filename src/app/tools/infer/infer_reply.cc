// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>

#include "app/tools/infer/http_inference.h"
#include "app/tools/remote/document_reader.h"
#include "app/tools/remote/terminal_text.h"
#include "app/tools/tensors/fit_shape.h"
#include "app/tools/tensors/nested_values.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using codec::json::Cursor;

constexpr size_t kMaxOutputs = 10'000;

/// An output as the JSON part describes it. The data may stand before the type, so it is read
/// later.
struct ListedOutput {
  std::string name, type;
  tensor::Shape shape;
  std::optional<uint64_t> binary_size;
  std::string_view data;  // the JSON text of the list
};

Status ReadShape(Cursor& cursor, tensor::Shape* shape) {
  if (cursor.Peek() != '[') return cursor.SyntaxError("expected a shape");
  return cursor.ForEachElement([&]() -> Status {
    std::optional<uint64_t> dim;
    NEREID_RETURN_IF_ERROR(ReadCount(cursor, "shape", &dim));
    if (!dim || *dim > INT64_MAX || shape->size() == kMaxDims) {
      return Status::Internal("a shape that is not readable");
    }
    shape->push_back(static_cast<int64_t>(*dim));
    return {};
  });
}

Status ReadOutput(Cursor& cursor, std::string_view key, ListedOutput& output) {
  if (key == "name") return ReadText(cursor, key, &output.name);
  if (key == "datatype") return ReadText(cursor, key, &output.type);
  if (key == "shape") return ReadShape(cursor, &output.shape);
  if (key == "parameters") {
    return ReadMembers(cursor, [&](Cursor& at, std::string_view name) {
      return name == "binary_data_size" ? ReadCount(at, name, &output.binary_size) : at.SkipValue();
    });
  }
  cursor.Peek();
  const char* const begin = cursor.position();
  NEREID_RETURN_IF_ERROR(cursor.SkipValue());
  if (key == "data") output.data = {begin, static_cast<size_t>(cursor.position() - begin)};
  return {};
}

base::Result<Tensor> TensorOf(const ListedOutput& output, std::string_view* binary) {
  Tensor tensor{output.name, tensor::DataTypeFromName(output.type), output.shape, ""};
  if (output.binary_size) {
    if (*output.binary_size > binary->size()) {
      return Status::Internal("the response lacks bytes of the output '" +
                              TerminalText(output.name, 100) + "'");
    }
    tensor.bytes = binary->substr(0, *output.binary_size);
    binary->remove_prefix(*output.binary_size);
  } else if (!output.data.empty() && tensor.type != tensor::DataType::kInvalid) {
    NEREID_ASSIGN_OR_RETURN(Tensor read, ReadNestedValues(output.data, tensor.type));
    tensor.bytes = std::move(read.bytes);
  }
  NEREID_RETURN_IF_ERROR(CheckTensor(tensor));
  return tensor;
}

base::Result<InferReply> Decode(std::string_view json, std::string_view binary) {
  InferReply reply;
  std::vector<ListedOutput> outputs;
  NEREID_RETURN_IF_ERROR(ReadRoot(json, [&](Cursor& cursor, std::string_view key) {
    if (key == "model_name") return ReadText(cursor, key, &reply.model);
    if (key == "model_version") return ReadText(cursor, key, &reply.version);
    if (key == "id") return ReadText(cursor, key, &reply.id);
    return key == "outputs" ? ReadObjects(cursor, &outputs, ReadOutput) : cursor.SkipValue();
  }));
  if (outputs.size() > kMaxOutputs) return Status::Internal("too many outputs");
  for (const ListedOutput& output : outputs) {
    NEREID_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(output, &binary));
    reply.outputs.push_back(std::move(tensor));
  }
  return reply;
}

/// Returns the tensor of a value of the generate extension: a scalar or a flat list.
base::Result<Tensor> GeneratedTensor(const TensorSpec& spec, std::string_view value) {
  NEREID_ASSIGN_OR_RETURN(Tensor tensor, ReadNestedValues(value, spec.type));
  tensor.name = spec.name;
  // The event does not have the shape; elements that the declared one does not explain are a list.
  if (!FitShape(spec, /*has_shape=*/false, &tensor).ok()) tensor.shape = {CountElements(tensor)};
  return tensor;
}

}  // namespace

base::Result<InferReply> DecodeInferReply(std::string_view body, size_t json_size) {
  if (json_size > body.size()) {
    return Status::Internal("the server's response is shorter than it says");
  }
  auto reply = Decode(body.substr(0, json_size), body.substr(json_size));
  if (reply.ok()) return reply;
  return Status::Internal("the server's response cannot be read: " +
                          TerminalText(reply.status().message(), 300));
}

base::Result<InferReply> DecodeGenerateEvent(std::string_view json, const ModelDescription& model) {
  InferReply reply;
  std::string error;
  const Status read = ReadRoot(json, [&](Cursor& cursor, std::string_view key) -> Status {
    if (key == "model_name") return ReadText(cursor, key, &reply.model);
    if (key == "model_version") return ReadText(cursor, key, &reply.version);
    if (key == "id") return ReadText(cursor, key, &reply.id);
    const TensorSpec* const spec = FindSpec(model.outputs, key);
    if (spec == nullptr && key == "error") return ReadText(cursor, key, &error);
    if (spec == nullptr) return cursor.SkipValue();
    cursor.Peek();
    const char* const begin = cursor.position();
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    NEREID_ASSIGN_OR_RETURN(
        Tensor tensor,
        GeneratedTensor(*spec, {begin, static_cast<size_t>(cursor.position() - begin)}));
    reply.outputs.push_back(std::move(tensor));
    return {};
  });
  if (!error.empty()) return Status::Unavailable("the server answered: " + TerminalText(error));
  if (read.ok()) return reply;
  return Status::Internal("the server's event cannot be read: " +
                          TerminalText(read.message(), 300));
}

}  // namespace nereid::app::tools
