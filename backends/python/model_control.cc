// SPDX-License-Identifier: Apache-2.0
#include "python/model_control.h"

#include <charconv>
#include <memory>

namespace nereid::python {

using backend::Error;

namespace {

struct DeleteParameter {
  void operator()(TRITONSERVER_Parameter* parameter) const {
    TRITONSERVER_ParameterDelete(parameter);
  }
};

Error Load(TRITONSERVER_Server* server, const std::vector<std::string>& arguments) {
  std::vector<std::unique_ptr<TRITONSERVER_Parameter, DeleteParameter>> owned;
  std::vector<const TRITONSERVER_Parameter*> parameters;
  const auto add = [&](TRITONSERVER_Parameter* parameter) {
    owned.emplace_back(parameter);
    parameters.push_back(parameter);
  };
  if (arguments.size() > 1 && !arguments[1].empty()) {
    add(TRITONSERVER_ParameterNew("config", TRITONSERVER_PARAMETER_STRING, arguments[1].c_str()));
  }
  for (size_t i = 2; i + 1 < arguments.size(); i += 2) {
    add(TRITONSERVER_ParameterBytesNew(arguments[i].c_str(), arguments[i + 1].data(),
                                       arguments[i + 1].size()));
  }
  return Error(TRITONSERVER_ServerLoadModelWithParameters(server, arguments[0].c_str(),
                                                          parameters.data(), parameters.size()));
}

Error Unload(TRITONSERVER_Server* server, const std::vector<std::string>& arguments) {
  const bool dependents = arguments.size() > 1 && arguments[1] == "1";
  return Error(dependents
                   ? TRITONSERVER_ServerUnloadModelAndDependents(server, arguments[0].c_str())
                   : TRITONSERVER_ServerUnloadModel(server, arguments[0].c_str()));
}

/// The text of the standard library's stol is a part of Triton's message.
Error ReadVersion(const std::string& text, int64_t* version) {
  *version = -1;
  if (text.empty()) {
    return {};
  }
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, *version);
  if (failure == std::errc() && rest == end && *version > 0) {
    return {};
  }
  if (failure == std::errc() && rest == end) {
    return Error::InvalidArgument("failed to get model version from specified version string '" +
                                  text + "', version should be an integral value > 0");
  }
  return Error::InvalidArgument("failed to get model version from specified version string '" +
                                text +
                                "' (details: stol), version should be an integral value > 0");
}

Error IsReady(TRITONSERVER_Server* server, const std::vector<std::string>& arguments,
              std::string* value) {
  int64_t version = -1;
  NEREID_BACKEND_TRY(ReadVersion(arguments.size() > 1 ? arguments[1] : "", &version));
  bool ready = false;
  const Error unknown(
      TRITONSERVER_ServerModelIsReady(server, arguments[0].c_str(), version, &ready));
  *value = unknown.ok() && ready ? "1" : "0";
  return {};
}

}  // namespace

Error ControlModel(TRITONSERVER_Server* server, ControlFunction function,
                   const std::vector<std::string>& arguments, std::string* value) {
  if (arguments.empty()) {
    return Error::InvalidArgument("the name of the model is missing");
  }
  switch (function) {
    case ControlFunction::kLoadModel:
      return Load(server, arguments);
    case ControlFunction::kUnloadModel:
      return Unload(server, arguments);
    default:
      return IsReady(server, arguments, value);
  }
}

}  // namespace nereid::python
