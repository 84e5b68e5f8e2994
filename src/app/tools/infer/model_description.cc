// SPDX-License-Identifier: Apache-2.0
#include "app/tools/infer/model_description.h"

#include "app/tools/remote/document_reader.h"
#include "app/tools/remote/terminal_text.h"

namespace nereid::app::tools {
namespace {

using base::Status;
using codec::json::Cursor;

Status ReadDims(Cursor& cursor, tensor::Shape* dims) {
  if (cursor.Peek() != '[') return cursor.SyntaxError("expected a shape");
  return cursor.ForEachElement([&]() -> Status {
    codec::json::Number number;
    cursor.Peek();
    NEREID_RETURN_IF_ERROR(cursor.ReadNumberValue(&number));
    const double value = number.AsDouble();
    if (!(value >= -1 && value < 1e15) || dims->size() == kMaxDims) {
      return Status::Internal("a shape that is not readable");
    }
    dims->push_back(static_cast<int64_t>(value));
    return {};
  });
}

Status ReadSpec(Cursor& cursor, std::string_view key, TensorSpec& spec) {
  if (key == "name") return ReadText(cursor, key, &spec.name);
  if (key == "shape") return ReadDims(cursor, &spec.dims);
  if (key != "datatype") return cursor.SkipValue();
  std::string type;
  NEREID_RETURN_IF_ERROR(ReadText(cursor, key, &type));
  spec.type = tensor::DataTypeFromName(type);
  if (spec.type != tensor::DataType::kInvalid) return {};
  return Status::Internal("the data type " + TerminalText(type, 40));
}

struct ConfiguredInput {
  std::string name;
  bool optional = false;
};

Status ReadConfiguredInput(Cursor& cursor, std::string_view key, ConfiguredInput& input) {
  if (key == "name") return ReadText(cursor, key, &input.name);
  if (key != "optional") return cursor.SkipValue();
  cursor.Peek();
  return cursor.ReadBool(&input.optional) ? Status() : cursor.SkipValue();
}

}  // namespace

Status DecodeModelMetadata(std::string_view json, ModelDescription* model) {
  const Status read = ReadRoot(json, [&](Cursor& cursor, std::string_view key) {
    if (key == "name") return ReadText(cursor, key, &model->name);
    if (key == "versions") return ReadTexts(cursor, &model->versions);
    if (key == "inputs") return ReadObjects(cursor, &model->inputs, ReadSpec);
    if (key == "outputs") return ReadObjects(cursor, &model->outputs, ReadSpec);
    return cursor.SkipValue();
  });
  if (!read.ok()) {
    return Status::Internal("the server's metadata of the model cannot be read: " + read.message());
  }
  for (const auto* specs : {&model->inputs, &model->outputs}) {
    for (const TensorSpec& spec : *specs) {
      if (spec.type != tensor::DataType::kInvalid) continue;
      return Status::Internal("the server's metadata of the model names no data type of '" +
                              TerminalText(spec.name, 100) + "'");
    }
  }
  return {};
}

Status DecodeModelConfig(std::string_view json, ModelDescription* model) {
  std::vector<ConfiguredInput> inputs;
  NEREID_RETURN_IF_ERROR(ReadRoot(json, [&](Cursor& cursor, std::string_view key) -> Status {
    if (key == "input" && cursor.Peek() == '[') {
      return ReadObjects(cursor, &inputs, ReadConfiguredInput);
    }
    if (key != "model_transaction_policy") return cursor.SkipValue();
    return ReadMembers(cursor, [&](Cursor& at, std::string_view name) {
      at.Peek();
      return name == "decoupled" && at.ReadBool(&model->decoupled) ? Status() : at.SkipValue();
    });
  }));
  for (ConfiguredInput& input : inputs) {
    if (input.optional) model->optional_inputs.push_back(std::move(input.name));
  }
  return {};
}

const TensorSpec* FindSpec(const std::vector<TensorSpec>& specs, std::string_view name) {
  for (const TensorSpec& spec : specs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

}  // namespace nereid::app::tools
