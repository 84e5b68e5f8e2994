// SPDX-License-Identifier: Apache-2.0
#include "abi/error.h"

#include <string>

/// The definition behind the opaque C type.
struct TRITONSERVER_Error {
  TRITONSERVER_Error_Code code;
  std::string message;
};

namespace nereid::abi {

TRITONSERVER_Error_Code ToErrorCode(base::StatusCode code) {
  return code == base::StatusCode::kOk
             ? TRITONSERVER_ERROR_UNKNOWN
             : static_cast<TRITONSERVER_Error_Code>(static_cast<int>(code) - 1);
}

base::StatusCode ToStatusCode(TRITONSERVER_Error_Code code) {
  const int value = static_cast<int>(code);
  return value >= 0 && value <= TRITONSERVER_ERROR_CANCELLED
             ? static_cast<base::StatusCode>(value + 1)
             : base::StatusCode::kUnknown;
}

TRITONSERVER_Error* ToError(const base::Status& status) {
  if (status.ok()) return nullptr;
  return new TRITONSERVER_Error{ToErrorCode(status.code()), status.message()};
}

base::Status ToStatus(TRITONSERVER_Error* error) {
  if (error == nullptr) return base::Status::Ok();
  return {ToStatusCode(error->code), error->message};
}

base::Status TakeStatus(TRITONSERVER_Error* error) {
  base::Status status = ToStatus(error);
  delete error;
  return status;
}

TRITONSERVER_Error* NullArgument(const char* function, const char* argument) {
  return new TRITONSERVER_Error{TRITONSERVER_ERROR_INVALID_ARG,
                                std::string(function) + ": argument '" + argument +
                                    "' must not be NULL"};
}

}  // namespace nereid::abi

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* msg) {
  return new TRITONSERVER_Error{code, msg == nullptr ? "" : msg};
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) { delete error; }

TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) {
  return error == nullptr ? TRITONSERVER_ERROR_UNKNOWN : error->code;
}

const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error* error) {
  if (error == nullptr) return "<invalid code>";
  switch (error->code) {
    case TRITONSERVER_ERROR_UNKNOWN:
      return "Unknown";
    case TRITONSERVER_ERROR_INTERNAL:
      return "Internal";
    case TRITONSERVER_ERROR_NOT_FOUND:
      return "Not found";
    case TRITONSERVER_ERROR_INVALID_ARG:
      return "Invalid argument";
    case TRITONSERVER_ERROR_UNAVAILABLE:
      return "Unavailable";
    case TRITONSERVER_ERROR_UNSUPPORTED:
      return "Unsupported";
    case TRITONSERVER_ERROR_ALREADY_EXISTS:
      return "Already exists";
    case TRITONSERVER_ERROR_CANCELLED:
      return "Cancelled";
  }
  return "<invalid code>";
}

const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

}  // extern "C"
