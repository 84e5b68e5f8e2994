// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>

#include "nereid/backend/error.h"

namespace nereid::python {

/// Writes parameters of a request or response as a JSON object.
class ParametersText {
 public:
  ParametersText() : writer_(text_) { writer_.StartObject(); }

  /// INVALID_ARG for a BYTES parameter, which JSON cannot say.
  backend::Error Add(const char* name, TRITONSERVER_ParameterType type, const void* value) {
    writer_.Key(name);
    switch (type) {
      case TRITONSERVER_PARAMETER_STRING:
        writer_.String(static_cast<const char*>(value));
        return {};
      case TRITONSERVER_PARAMETER_INT:
        writer_.Int64(*static_cast<const int64_t*>(value));
        return {};
      case TRITONSERVER_PARAMETER_BOOL:
        writer_.Bool(*static_cast<const bool*>(value));
        return {};
      case TRITONSERVER_PARAMETER_DOUBLE:
        writer_.Double(*static_cast<const double*>(value));
        return {};
      default:
        return backend::Error::InvalidArgument("Unsupported parameter type for parameter '" +
                                               std::string(name) + "'.");
    }
  }

  std::string Finish() {
    writer_.EndObject();
    return {text_.GetString(), text_.GetSize()};
  }

 private:
  rapidjson::StringBuffer text_;
  /// NaN and infinities are written as Python writes and reads them.
  rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>,
                    rapidjson::CrtAllocator, rapidjson::kWriteNanAndInfFlag>
      writer_;
};

}  // namespace nereid::python
