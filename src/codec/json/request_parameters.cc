// SPDX-License-Identifier: Apache-2.0
#include "codec/json/request_parameters.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "request/correlation_id.h"
#include "request/integer_value.h"

namespace nereid::codec::json {
namespace {

using base::Status;
using request::InferenceRequest;

Status ReadCorrelationId(Cursor& cursor, std::string_view key, InferenceRequest* request) {
  if (cursor.Peek() != '"') {
    uint64_t number = 0;
    NEREID_RETURN_IF_ERROR(ReadUnsignedMember(cursor, key, &number));
    request->correlation_id = number;
    return Status::Ok();
  }
  std::string text;
  NEREID_RETURN_IF_ERROR(ReadStringMember(cursor, key, &text));
  NEREID_RETURN_IF_ERROR(request::CheckCorrelationId(text));
  request->correlation_id = std::move(text);
  return Status::Ok();
}

Status ReadFlag(Cursor& cursor, std::string_view key, uint32_t flag, InferenceRequest* request) {
  bool set = false;
  NEREID_RETURN_IF_ERROR(ReadBoolMember(cursor, key, &set));
  request->flags = set ? request->flags | flag : request->flags & ~flag;
  return Status::Ok();
}

Status WrongParameterType(std::string_view key) {
  return Status::InvalidArgument("parameter '" + std::string(key) +
                                 "' has invalid type. It should be either 'int', 'double', 'bool', "
                                 "or 'string'.");
}

/// Returns whether the protocol gives this parameter of a request its meaning, and not the model.
bool IsOfProtocol(std::string_view key) {
  constexpr std::string_view kNames[] = {"sequence_id", "sequence_start", "sequence_end",
                                         "priority",    "timeout",        "binary_data_output"};
  return std::find(std::begin(kNames), std::end(kNames), key) != std::end(kNames);
}

}  // namespace

Status ReadCustomParameter(Cursor& cursor, std::string_view key, const DecodeLimits& limits,
                           InferenceRequest* request) {
  if (request->parameters.size() == limits.max_parameters) {
    return Status::InvalidArgument("a request can have at most " +
                                   std::to_string(limits.max_parameters) + " parameters");
  }
  request::Parameter parameter{std::string(key), {}};
  const char c = cursor.Peek();
  bool flag = false;
  if (c == '"') {
    std::string text;
    NEREID_RETURN_IF_ERROR(ReadStringMember(cursor, key, &text));
    parameter.value = std::move(text);
  } else if (cursor.ReadBool(&flag)) {
    parameter.value = flag;
  } else if (c == '{' || c == '[' || c == 'n') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    return WrongParameterType(key);
  } else {
    Number number;
    NEREID_RETURN_IF_ERROR(cursor.ReadNumberValue(&number));
    if (number.kind == Number::Kind::kDouble) {
      parameter.value = number.d;
    } else if (number.kind == Number::Kind::kNegative) {
      parameter.value = number.i;
    } else {
      parameter.value = request::IntegerValue(number.u);
    }
  }
  request->parameters.push_back(std::move(parameter));
  return Status::Ok();
}

Status ReadRequestParameters(Cursor& cursor, const DecodeLimits& limits, InferenceRequest* request,
                             OutputOptions* outputs) {
  if (cursor.Peek() != '{') {
    NEREID_RETURN_IF_ERROR(cursor.SkipValue());
    return Status::InvalidArgument(
        "Unable to parse 'parameters': attempt to get members for non-object");
  }
  return cursor.ForEachMember([&](std::string_view key) -> Status {
    if (IsOfProtocol(key) && cursor.ReadNull()) return Status::Ok();
    if (key == "sequence_id") return ReadCorrelationId(cursor, key, request);
    if (key == "sequence_start") {
      return ReadFlag(cursor, key, request::kFlagSequenceStart, request);
    }
    if (key == "sequence_end") return ReadFlag(cursor, key, request::kFlagSequenceEnd, request);
    if (key == "priority") return ReadUnsignedMember(cursor, key, &request->priority);
    if (key == "timeout") return ReadUnsignedMember(cursor, key, &request->timeout_us);
    if (key == "binary_data_output") {
      bool binary = false;
      NEREID_RETURN_IF_ERROR(ReadBoolMember(cursor, key, &binary));
      outputs->set_all_binary(binary);
      return Status::Ok();
    }
    if (key.substr(0, 7) == "triton_") {
      return Status::InvalidArgument(
          "parameter keys starting with 'triton_' are reserved for Triton usage and should not be "
          "specified.");
    }
    return ReadCustomParameter(cursor, key, limits, request);
  });
}

}  // namespace nereid::codec::json
