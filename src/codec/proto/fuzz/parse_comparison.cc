// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/fuzz/parse_comparison.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <sstream>

#include "codec/proto/contents.h"
#include "codec/proto/infer_request_view.h"
#include "codec/proto/raw_contents.h"
#include "google/protobuf/stubs/logging.h"
#include "grpc_service.pb.h"
#include "tensor/bytes.h"

namespace nereid::codec::proto::testing {
namespace {

using Parameters = google::protobuf::Map<std::string, inference::InferParameter>;

// Both messages are rendered into the same form, which is compared.
std::string Line(std::string_view name, std::string_view value) {
  return std::string(name) + " " + std::to_string(value.size()) + ":" + std::string(value) + "\n";
}

std::string Number(uint64_t value) { return std::to_string(value); }

std::string Render(const Parameters& parameters) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : parameters) {
    std::string text;
    switch (value.parameter_choice_case()) {
      case inference::InferParameter::kBoolParam:
        text = "bool " + Number(value.bool_param());
        break;
      case inference::InferParameter::kInt64Param:
        text = "int64 " + Number(static_cast<uint64_t>(value.int64_param()));
        break;
      case inference::InferParameter::kStringParam:
        text = "string " + value.string_param();
        break;
      case inference::InferParameter::kDoubleParam:
        text = "double " + Number(std::bit_cast<uint64_t>(value.double_param()));
        break;
      case inference::InferParameter::kUint64Param:
        text = "uint64 " + Number(value.uint64_param());
        break;
      default:
        text = "unset";
    }
    lines.push_back(Line("parameter " + key, text));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

std::string Render(std::span<const ParameterView> parameters) {
  std::vector<std::string> lines;
  for (const ParameterView& parameter : parameters) {
    std::string text;
    switch (parameter.kind) {
      case ParameterView::Kind::kBool:
        text = "bool " + Number(parameter.AsBool());
        break;
      case ParameterView::Kind::kInt64:
        text = "int64 " + Number(parameter.AsUint64());
        break;
      case ParameterView::Kind::kString:
        text = "string " + std::string(parameter.text);
        break;
      case ParameterView::Kind::kDouble:
        text = "double " + Number(parameter.bits);
        break;
      case ParameterView::Kind::kUint64:
        text = "uint64 " + Number(parameter.AsUint64());
        break;
      case ParameterView::Kind::kUnset:
        text = "unset";
    }
    lines.push_back(Line("parameter " + std::string(parameter.name), text));
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

template <typename Wide, typename Values>
std::string Packed(const Values& values) {
  std::string bytes;
  for (const auto value : values) {
    const Wide wide = static_cast<Wide>(value);
    bytes.append(reinterpret_cast<const char*>(&wide), sizeof(wide));
  }
  return bytes;
}

constexpr std::string_view kOutOfRange = "a number of the contents is out of range";

std::string RenderContents(const inference::InferTensorContents& contents) {
  std::string bytes;
  for (const std::string& element : contents.bytes_contents()) {
    tensor::AppendBytesElement(element, &bytes);
  }
  return Line("bool", Packed<uint8_t>(contents.bool_contents())) +
         Line("int", Packed<int32_t>(contents.int_contents())) +
         Line("int64", Packed<int64_t>(contents.int64_contents())) +
         Line("uint", Packed<uint32_t>(contents.uint_contents())) +
         Line("uint64", Packed<uint64_t>(contents.uint64_contents())) +
         Line("fp32", Packed<float>(contents.fp32_contents())) +
         Line("fp64", Packed<double>(contents.fp64_contents())) + Line("bytes", bytes);
}

std::string RenderContents(const InferRequestView& view, const InputView& input) {
  using tensor::DataType;
  struct Row {
    const char* name;
    ContentsField field;
    DataType type;
  };
  static constexpr Row kRows[] = {
      {"bool", ContentsField::kBool, DataType::kBool},
      {"int", ContentsField::kInt, DataType::kInt32},
      {"int64", ContentsField::kInt64, DataType::kInt64},
      {"uint", ContentsField::kUint, DataType::kUint32},
      {"uint64", ContentsField::kUint64, DataType::kUint64},
      {"fp32", ContentsField::kFp32, DataType::kFp32},
      {"fp64", ContentsField::kFp64, DataType::kFp64},
      {"bytes", ContentsField::kBytes, DataType::kBytes},
  };
  std::string all;
  for (const Row& row : kRows) {
    auto buffer = ConvertContents(view.ContentsBodies(input), input.contents, row.field,
                                  {input.name, row.type});
    if (!buffer.ok()) return std::string(kOutOfRange);
    all += Line(row.name, {buffer->data(), buffer->size()});
  }
  return all;
}

std::string Render(const inference::ModelInferRequest& request) {
  std::string all = Line("model", request.model_name()) + Line("version", request.model_version()) +
                    Line("id", request.id()) + Render(request.parameters());
  for (const auto& input : request.inputs()) {
    all += Line("input", input.name()) + Line("datatype", input.datatype()) +
           Line("shape", Packed<int64_t>(input.shape())) + Render(input.parameters());
    if (input.has_contents()) all += RenderContents(input.contents());
  }
  for (const auto& output : request.outputs()) {
    all += Line("output", output.name()) + Render(output.parameters());
  }
  for (const std::string& raw : request.raw_input_contents()) all += Line("raw", raw);
  return all;
}

std::string Render(const InferRequestView& view) {
  std::string all = Line("model", view.model_name) + Line("version", view.model_version) +
                    Line("id", view.id) + Render(std::span(view.parameters));
  for (const InputView& input : view.inputs) {
    all += Line("input", input.name) + Line("datatype", input.datatype) +
           Line("shape", Packed<int64_t>(view.Dims(input))) +
           Render(view.Parameters(input.parameters));
    if (input.contents.present) all += RenderContents(view, input);
  }
  for (const OutputView& output : view.outputs) {
    all += Line("output", output.name) + Render(view.Parameters(output.parameters));
  }
  for (std::string_view raw : view.raw_input_contents) all += Line("raw", raw);
  return all;
}

/// Parses a message whose raw_input_contents were divided from the other fields, in pieces of
/// `step` bytes. Returns false if it is refused. `is_divided` is false if the contents are not
/// found.
bool ParseDivided(std::string_view message, size_t step, InferRequestView* view,
                  std::string* fields, std::vector<std::string>* entries, bool* is_divided) {
  const auto start = FindRawContents(message);
  *is_divided = start.has_value();
  if (!start) return true;
  *fields = message.substr(0, start->size);
  entries->clear();
  message.remove_prefix(start->size);
  RawContentsReader reader(message.size(), 100);
  while (!message.empty()) {
    std::string_view data = message.substr(0, step);
    message.remove_prefix(data.size());
    while (!data.empty()) {
      const RawContentsReader::Piece piece = reader.Next(&data);
      if (piece.kind == RawContentsReader::Kind::kEntry) entries->emplace_back();
      if (piece.kind == RawContentsReader::Kind::kBytes) entries->back() += piece.bytes;
      if (piece.kind == RawContentsReader::Kind::kRest) *fields += piece.bytes;
    }
  }
  if (!view->Parse(*fields).ok()) return false;
  view->raw_input_contents.insert(view->raw_input_contents.begin(), entries->begin(),
                                  entries->end());
  return true;
}

/// Compares a message that is divided with the whole; `found` is empty if the whole is refused.
std::string CompareDivided(std::string_view message, const std::string& found) {
  InferRequestView view;
  std::string fields;
  std::vector<std::string> entries;
  for (const size_t step : {size_t{1}, size_t{7}, message.size()}) {
    bool is_divided = false;
    const bool accepted = ParseDivided(message, step, &view, &fields, &entries, &is_divided);
    if (!is_divided) return "";
    if (accepted != !found.empty()) return "the divided message is not refused as the whole is";
    if (accepted && Render(view) != found) return "the divided message differs from the whole";
  }
  return "";
}

}  // namespace

std::string CompareWithProtobuf(std::string_view message) {
  const google::protobuf::LogSilencer silencer;  // it logs strings that are not UTF-8
  inference::ModelInferRequest reference;
  const bool accepted = reference.ParseFromArray(message.data(), static_cast<int>(message.size()));
  InferRequestView view;
  const base::Status status = view.Parse(message);
  if (status.code() == base::StatusCode::kInvalidArgument) return "";  // beyond our bounds
  if (accepted != status.ok()) {
    return accepted ? "protobuf accepts, the reader refuses"
                    : "the reader accepts what protobuf refuses";
  }
  if (!accepted) return CompareDivided(message, "");
  const std::string expected = Render(reference);
  const std::string found = Render(view);
  // Protobuf cuts a number that its field cannot hold; the reader refuses it.
  const bool is_refused = found.find(kOutOfRange) != std::string::npos;
  if (expected == found || is_refused) return CompareDivided(message, found);
  return "expected:\n" + expected + "found:\n" + found;
}

}  // namespace nereid::codec::proto::testing
