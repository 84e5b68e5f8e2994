// SPDX-License-Identifier: Apache-2.0
#include "payload.h"

#include <charconv>
#include <cstdint>
#include <cstring>

namespace nereid::bench {
namespace {

// ---- Numbers of one data type -------------------------------------------------------------------

template <typename T>
void AppendRaw(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// Appends `value` as `datatype`. Returns false for an unsupported type.
bool AppendAs(std::string& out, std::string_view datatype, double value) {
  if (datatype == "FP32") {
    AppendRaw(out, static_cast<float>(value));
  } else if (datatype == "FP64") {
    AppendRaw(out, value);
  } else if (datatype == "INT32") {
    AppendRaw(out, static_cast<int32_t>(value));
  } else if (datatype == "INT64") {
    AppendRaw(out, static_cast<int64_t>(value));
  } else if (datatype == "UINT8") {
    AppendRaw(out, static_cast<uint8_t>(value));
  } else {
    return false;
  }
  return true;
}

template <typename T>
void AppendNumbers(std::string& out, std::string_view tensor) {
  char text[32];
  for (size_t at = 0; at < tensor.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, tensor.data() + at, sizeof(T));
    if (at != 0) out += ',';
    const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
    out.append(text, end);
  }
}

std::string JsonNumbers(std::string_view datatype, std::string_view tensor) {
  std::string out;
  if (datatype == "FP32") AppendNumbers<float>(out, tensor);
  if (datatype == "FP64") AppendNumbers<double>(out, tensor);
  if (datatype == "INT32") AppendNumbers<int32_t>(out, tensor);
  if (datatype == "INT64") AppendNumbers<int64_t>(out, tensor);
  if (datatype == "UINT8") AppendNumbers<uint8_t>(out, tensor);
  return out;
}

std::string JsonShape(const Options& options) {
  std::string out = "[";
  for (const int64_t dim : options.shape) {
    if (out.size() > 1) out += ',';
    out += std::to_string(dim);
  }
  return out + "]";
}

// ---- Protobuf's wire format, as much as two messages need ---------------------------------------

void AppendVarint(std::string& out, uint64_t value) {
  for (; value > 0x7f; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void AppendField(std::string& out, int number, std::string_view content) {
  AppendVarint(out, static_cast<uint64_t>(number) << 3 | 2);
  AppendVarint(out, content.size());
  out += content;
}

/// Writes an entry of ModelInferRequest.parameters. `field` is that of InferParameter: 1 for a
/// bool, 2 for an int64.
void AppendParameter(std::string& body, std::string_view name, int field, uint64_t value) {
  std::string parameter;
  AppendVarint(parameter, static_cast<uint64_t>(field) << 3);
  AppendVarint(parameter, value);
  std::string entry;
  AppendField(entry, 1, name);
  AppendField(entry, 2, parameter);
  AppendField(body, 4, entry);
}

/// Returns the members of the JSON object "parameters" that identify a sequence.
std::string JsonTurn(Turn turn) {
  if (turn.id == 0) return "";
  const auto truth = [](bool value) { return value ? "true" : "false"; };
  return R"("sequence_id":)" + std::to_string(turn.id) + R"(,"sequence_start":)" +
         truth(turn.start) + R"(,"sequence_end":)" + truth(turn.end);
}

bool ReadVarint(std::string_view& in, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

/// Returns the JSON part of an HTTP request.
std::string RequestJson(const Options& options, std::string_view tensor, Turn turn) {
  std::string json = R"({"inputs":[{"name":")" + options.input + R"(","datatype":")" +
                     options.datatype + R"(","shape":)" + JsonShape(options);
  if (options.encoding == Encoding::kBinary) {
    json += R"(,"parameters":{"binary_data_size":)" + std::to_string(tensor.size()) +
            R"(}}],"parameters":{"binary_data_output":true)" +
            (turn.id == 0 ? "" : "," + JsonTurn(turn)) + "}}";
  } else {
    json += R"(,"data":[)" + JsonNumbers(options.datatype, tensor) + "]}]" +
            (turn.id == 0 ? "" : R"(,"parameters":{)" + JsonTurn(turn) + "}") + "}";
  }
  return json;
}

/// Returns the ModelInferRequest of a gRPC message.
std::string RequestMessage(const Options& options, std::string_view tensor, Turn turn) {
  std::string dims;
  for (const int64_t dim : options.shape) AppendVarint(dims, static_cast<uint64_t>(dim));
  std::string input;
  AppendField(input, 1, options.input);
  AppendField(input, 2, options.datatype);
  AppendField(input, 3, dims);
  std::string body;
  AppendField(body, 1, options.model);
  if (turn.id != 0) {
    AppendParameter(body, "sequence_id", 2, turn.id);
    AppendParameter(body, "sequence_start", 1, turn.start ? 1 : 0);
    AppendParameter(body, "sequence_end", 1, turn.end ? 1 : 0);
  }
  AppendField(body, 5, input);
  AppendField(body, 7, tensor);
  return body;
}

}  // namespace

std::string MakeTensor(const Options& options) {
  const int64_t count = ElementCount(options.shape);
  const bool whole = options.datatype.starts_with("FP") == false;
  std::string out;
  uint32_t seed = 1;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    const double value = whole ? (seed >> 24) % 100 : (seed >> 8) / 8388608.0 - 1;
    if (!AppendAs(out, options.datatype, value)) return "";
  }
  return out;
}

std::string MakeHttpRequest(const Options& options, std::string_view tensor, Turn turn) {
  const bool is_given = !options.body.empty();
  const bool has_binary_part = !is_given && options.encoding == Encoding::kBinary;
  const std::string json = is_given ? options.body : RequestJson(options, tensor, turn);
  std::string request = "POST /v2/models/" + options.model +
                        "/infer HTTP/1.1\r\nHost: " + options.host + ":" +
                        std::to_string(options.port) + "\r\n";
  if (has_binary_part) {
    request += "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: " +
               std::to_string(json.size()) +
               "\r\nContent-Length: " + std::to_string(json.size() + tensor.size()) + "\r\n\r\n";
    request += json;
    request += tensor;
  } else {
    request += "Content-Type: application/json\r\nContent-Length: " + std::to_string(json.size()) +
               "\r\n\r\n" + json;
  }
  return request;
}

std::string MakeGrpcMessage(const Options& options, std::string_view tensor, Turn turn) {
  const std::string body =
      options.body.empty() ? RequestMessage(options, tensor, turn) : options.body;
  const auto size = static_cast<uint32_t>(body.size());
  std::string message(1, '\0');  // not compressed
  for (int shift = 24; shift >= 0; shift -= 8) message += static_cast<char>(size >> shift);
  return message + body;
}

std::string MakeRequest(const Options& options, std::string_view tensor, Turn turn) {
  return options.protocol == Protocol::kHttp ? MakeHttpRequest(options, tensor, turn)
                                             : MakeGrpcMessage(options, tensor, turn);
}

std::optional<std::string> OutputOfBinaryBody(std::string_view body, size_t json_size) {
  if (json_size > body.size()) return std::nullopt;
  return std::string(body.substr(json_size));
}

std::optional<std::string> OutputOfJsonBody(std::string_view body, std::string_view datatype) {
  constexpr std::string_view kKey = "\"data\":[";
  const size_t at = body.find(kKey);
  if (at == body.npos) return std::nullopt;
  body.remove_prefix(at + kKey.size());
  std::string out;
  while (true) {
    const size_t blank = body.find_first_not_of(", \n\r\t");
    if (blank == body.npos) return std::nullopt;
    body.remove_prefix(blank);
    if (body.front() == ']') return out;
    double value = 0;
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
    if (error != std::errc() || !AppendAs(out, datatype, value)) return std::nullopt;
    body.remove_prefix(static_cast<size_t>(end - body.data()));
  }
}

std::optional<std::string> OutputOfGrpcMessage(std::string_view message) {
  if (message.size() < 5) return std::nullopt;
  message.remove_prefix(5);
  while (!message.empty()) {
    uint64_t tag = 0;
    uint64_t size = 0;
    // Every field of ModelInferResponse is length-delimited.
    if (!ReadVarint(message, tag) || (tag & 7) != 2) return std::nullopt;
    if (!ReadVarint(message, size) || size > message.size()) return std::nullopt;
    if (tag >> 3 == 6) return std::string(message.substr(0, size));
    message.remove_prefix(size);
  }
  return std::nullopt;
}

}  // namespace nereid::bench
