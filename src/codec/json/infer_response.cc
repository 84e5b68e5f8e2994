// SPDX-License-Identifier: Apache-2.0
#include "codec/json/infer_response.h"

#include <string>

#include "codec/json/output_text.h"

namespace nereid::codec::json {
namespace {

using base::Status;
using request::InferenceResponse;
using request::Output;

void AppendParameters(const std::vector<request::Parameter>& parameters, TextBuffer* json) {
  char separator = '{';
  for (const request::Parameter& parameter : parameters) {
    *json << separator;
    json->AppendQuoted(parameter.name) << ':';
    AppendParameterValue(parameter.value, json);
    separator = ',';
  }
  *json << '}';
}

Status AppendData(const Output& output, TextBuffer* json) {
  *json << ",\"data\":[";
  NEREID_RETURN_IF_ERROR(AppendOutputElements(output, json));
  *json << ']';
  return Status::Ok();
}

Status AppendOutput(const Output& output, bool binary, TextBuffer* json) {
  *json << "{\"name\":";
  json->AppendQuoted(output.name) << ",\"datatype\":\"" << tensor::DataTypeName(output.type)
                                  << "\",\"shape\":[";
  for (size_t i = 0; i < output.shape.size(); ++i) {
    if (i != 0) *json << ',';
    json->AppendInteger(output.shape[i]);
  }
  *json << ']';
  if (output.in_shared_memory) {
    // Neither data nor parameters.
  } else if (binary) {
    *json << ",\"parameters\":{\"binary_data_size\":";
    json->AppendInteger(uint64_t{output.size}) << '}';
  } else {
    NEREID_RETURN_IF_ERROR(AppendData(output, json));
  }
  *json << '}';
  return Status::Ok();
}

}  // namespace

Status EncodeInferResponse(const InferenceResponse& response, const OutputOptions& options,
                           TextBuffer* json, std::vector<tensor::ByteSpan>* binary) {
  *json << '{';
  if (!response.id().empty()) {
    *json << "\"id\":";
    json->AppendQuoted(response.id()) << ',';
  }
  *json << "\"model_name\":";
  json->AppendQuoted(response.model().name)
      << ",\"model_version\":\"" << response.model().version_text << '"';
  if (!response.parameters().empty()) {
    *json << ",\"parameters\":";
    AppendParameters(response.parameters(), json);
  }
  *json << ",\"outputs\":[";
  bool first = true;
  for (const auto& output : response.outputs()) {
    const bool is_binary = !output->in_shared_memory && options.IsBinary(output->name);
    if (!first) *json << ',';
    first = false;
    NEREID_RETURN_IF_ERROR(AppendOutput(*output, is_binary, json));
    if (is_binary && output->size != 0) binary->push_back({output->data, output->size});
  }
  *json << "]}";
  if (!json->ok()) return Status::Unavailable("not enough memory for the response as JSON");
  return Status::Ok();
}

}  // namespace nereid::codec::json
