// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/infer_response.h"

#include <string>
#include <utility>

#include "base/utf8.h"
#include "codec/proto/wire_writer.h"

namespace nereid::codec::proto {
namespace {

using request::Output;
using request::Parameter;

constexpr std::string_view kFinalResponse = "triton_final_response";
// A tensor up to this size is copied into `head`, which is cheaper than a piece of its own.
constexpr size_t kCopiedTensorSize = 2048;
constexpr size_t kMaxErrorSize = size_t{1} << 20;

// The contents of a ModelInferResponse.
struct Fields {
  std::string_view model_name, model_version, id;
  const std::vector<Parameter>* parameters = nullptr;
  std::optional<bool> final_response;
  const std::vector<std::unique_ptr<Output>>* outputs = nullptr;
};

struct Sizes {
  uint64_t response = 0;  // bytes of the ModelInferResponse
  uint64_t viewed = 0;    // of these, tensor bytes that are not copied
  size_t views = 0;
};

bool IsCopied(const Output& output) { return output.MessageBytes().size() <= kCopiedTensorSize; }

size_t ValueSize(const Parameter::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return BytesFieldSize(text->size());
  if (const auto* number = std::get_if<int64_t>(&value)) {
    return 1 + VarintSize(static_cast<uint64_t>(*number));
  }
  return std::holds_alternative<bool>(value) ? 2 : 9;
}

// Returns the size of a map entry's body.
size_t EntrySize(std::string_view name, size_t value_size) {
  return BytesFieldSize(name.size()) + BytesFieldSize(value_size);
}

void WriteParameter(WireWriter& writer, std::string_view name, const Parameter::Value& value) {
  const size_t value_size = ValueSize(value);
  writer.BytesHeader(4, EntrySize(name, value_size));
  writer.BytesHeader(1, name.size());
  writer.Raw(name);
  writer.BytesHeader(2, value_size);
  if (const auto* text = std::get_if<std::string>(&value)) {
    writer.BytesHeader(3, text->size());
    writer.Raw(*text);
  } else if (const auto* number = std::get_if<int64_t>(&value)) {
    writer.VarintField(2, static_cast<uint64_t>(*number));
  } else if (const auto* flag = std::get_if<bool>(&value)) {
    writer.VarintField(1, *flag ? 1 : 0);
  } else {
    writer.DoubleField(4, std::get<double>(value));
  }
}

uint64_t ShapeSize(const tensor::Shape& shape) {
  uint64_t size = 0;
  for (int64_t dim : shape) size += VarintSize(static_cast<uint64_t>(dim));
  return size;
}

// Returns the size of an InferOutputTensor's body.
uint64_t OutputSize(const Output& output) {
  const uint64_t shape = ShapeSize(output.shape);
  return StringFieldSize(output.name) + StringFieldSize(tensor::DataTypeName(output.type)) +
         (shape == 0 ? 0 : BytesFieldSize(shape));
}

void WriteOutput(WireWriter& writer, const Output& output) {
  writer.BytesHeader(5, OutputSize(output));
  writer.String(1, output.name);
  writer.String(2, tensor::DataTypeName(output.type));
  if (output.shape.empty()) return;
  writer.BytesHeader(3, ShapeSize(output.shape));
  for (int64_t dim : output.shape) writer.Varint(static_cast<uint64_t>(dim));
}

Sizes Measure(const Fields& fields) {
  Sizes sizes;
  sizes.response = StringFieldSize(fields.model_name) + StringFieldSize(fields.model_version) +
                   StringFieldSize(fields.id);
  if (fields.parameters != nullptr) {
    for (const Parameter& parameter : *fields.parameters) {
      sizes.response += BytesFieldSize(EntrySize(parameter.name, ValueSize(parameter.value)));
    }
  }
  if (fields.final_response.has_value()) {
    sizes.response += BytesFieldSize(EntrySize(kFinalResponse, ValueSize(true)));
  }
  if (fields.outputs == nullptr) return sizes;
  for (const auto& output : *fields.outputs) {
    sizes.response +=
        BytesFieldSize(OutputSize(*output)) + BytesFieldSize(output->MessageBytes().size());
    if (IsCopied(*output)) continue;
    sizes.viewed += output->size;
    ++sizes.views;
  }
  return sizes;
}

// Writes everything except the raw contents.
void WriteFields(WireWriter& writer, const Fields& fields) {
  writer.String(1, fields.model_name);
  writer.String(2, fields.model_version);
  writer.String(3, fields.id);
  if (fields.parameters != nullptr) {
    for (const Parameter& parameter : *fields.parameters) {
      WriteParameter(writer, parameter.name, parameter.value);
    }
  }
  if (fields.final_response.has_value()) {
    WriteParameter(writer, kFinalResponse, *fields.final_response);
  }
  if (fields.outputs == nullptr) return;
  for (const auto& output : *fields.outputs) WriteOutput(writer, *output);
}

// Writes raw_output_contents and divides the message into pieces.
void WriteTensors(WireWriter& writer, const Fields& fields, EncodedMessage* message) {
  const char* piece = message->head.get();
  if (fields.outputs != nullptr) {
    for (const auto& output : *fields.outputs) {
      const std::string_view bytes = output->MessageBytes();
      writer.BytesHeader(6, bytes.size());
      if (IsCopied(*output)) {
        writer.Raw(bytes);
        continue;
      }
      message->pieces.emplace_back(piece, writer.position() - piece);
      message->pieces.push_back(bytes);
      piece = writer.position();
    }
  }
  if (piece != writer.position()) message->pieces.emplace_back(piece, writer.position() - piece);
}

// Protobuf writes the length of a message before its body, so everything is measured first and then
// written once, without moving bytes.
base::Result<EncodedMessage> Encode(const Fields& fields, std::string_view error_message,
                                    bool stream, size_t headroom) {
  const Sizes sizes = Measure(fields);
  const uint64_t size =
      stream ? StringFieldSize(error_message) + BytesFieldSize(sizes.response) : sizes.response;
  if (size > kMaxMessageSize) {
    return base::Status::InvalidArgument("Response has byte size " + std::to_string(size) +
                                         " which exceeds gRPC's byte size limit " +
                                         std::to_string(kMaxMessageSize) + ".");
  }
  EncodedMessage message;
  message.size = size;
  // At least one byte, so that the first piece has a valid address even for an empty message.
  message.head.reset(new char[headroom + (size - sizes.viewed) + 1]);
  message.pieces.reserve(2 * sizes.views + 1);
  WireWriter writer(message.head.get() + headroom);
  if (stream) {
    writer.String(1, error_message);
    writer.BytesHeader(2, sizes.response);
  }
  WriteFields(writer, fields);
  WriteTensors(writer, fields, &message);
  return message;
}

void MakeUtf8(std::string* text) {
  if (!base::IsUtf8(*text)) *text = base::ReplaceInvalidUtf8(*text);
}

// Makes the texts that a plug-in has chosen UTF-8: a client would reject the whole message. The
// other texts come from the request, where they have been checked, or from the configuration.
void MakeTextsUtf8(request::InferenceResponse* response) {
  for (Parameter& parameter : response->parameters()) {
    MakeUtf8(&parameter.name);
    if (auto* const text = std::get_if<std::string>(&parameter.value)) MakeUtf8(text);
  }
  for (const auto& output : response->outputs()) MakeUtf8(&output->name);
}

}  // namespace

base::Result<EncodedMessage> EncodeInferResponse(
    std::unique_ptr<request::InferenceResponse> response, const EncodeOptions& options) {
  MakeTextsUtf8(response.get());
  Fields fields;
  fields.model_name = response->model().name;
  fields.model_version = response->model().version_text;
  fields.id = response->id();
  fields.parameters = &response->parameters();
  fields.final_response = options.final_response;
  fields.outputs = &response->outputs();
  NEREID_ASSIGN_OR_RETURN(EncodedMessage message,
                          Encode(fields, {}, options.stream, options.headroom));
  // Only views need the response; without any it is destroyed here.
  if (message.pieces.size() > 1) message.response = std::move(response);
  return message;
}

EncodedMessage EncodeStreamNotice(const StreamNotice& notice, size_t headroom) {
  Fields fields;
  fields.model_name = notice.model_name;
  fields.model_version = notice.model_version;
  fields.id = notice.id;
  fields.final_response = notice.final_response;
  // A notice must not fail, so the text is shortened to a size that fits. It is made valid UTF-8,
  // because clients reject other strings and a plug-in's text may be anything.
  const std::string error = base::ShortenMiddle(notice.error_message, kMaxErrorSize);
  auto message = Encode(fields, error, /*stream=*/true, headroom);
  if (message.ok()) return std::move(message).value();
  fields.model_name = fields.model_version = fields.id = {};
  return std::move(Encode(fields, error, /*stream=*/true, headroom)).value();
}

}  // namespace nereid::codec::proto
