// SPDX-License-Identifier: Apache-2.0
#include "abi/error.h"

#include <string_view>
#include <utility>

namespace nereid::abi {
namespace {

TRITONSERVER_Error* Wrap(base::Status* status) {
  return reinterpret_cast<TRITONSERVER_Error*>(status);
}

/// The lowest bit of an error's address. It marks an error that belongs to somebody else and that
/// TRITONSERVER_ErrorDelete must ignore.
constexpr uintptr_t kLent = 1;
static_assert(alignof(base::Status) > kLent);

bool IsLent(TRITONSERVER_Error* error) { return (reinterpret_cast<uintptr_t>(error) & kLent) != 0; }

base::Status* Unwrap(TRITONSERVER_Error* error) {
  return reinterpret_cast<base::Status*>(reinterpret_cast<uintptr_t>(error) & ~kLent);
}

/// Returns the error that reports lack of memory. It is never deleted, and its text is short enough
/// to be stored in the string object itself, so that it can be returned when allocation fails.
base::Status* OutOfMemoryStatus() {
  static base::Status status = base::Status::Unavailable("out of memory");
  return &status;
}

TRITONSERVER_Error* MakeError(base::Status status) noexcept {
  auto* made = new (std::nothrow) base::Status(std::move(status));
  return Wrap(made == nullptr ? OutOfMemoryStatus() : made);
}

}  // namespace

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
  return status.ok() ? nullptr : MakeError(status);
}

TRITONSERVER_Error* BorrowError(const base::Status& status) {
  if (status.ok()) return nullptr;
  return reinterpret_cast<TRITONSERVER_Error*>(reinterpret_cast<uintptr_t>(&status) | kLent);
}

base::Status ToStatus(TRITONSERVER_Error* error) {
  return error == nullptr ? base::Status::Ok() : *Unwrap(error);
}

base::Status TakeStatus(TRITONSERVER_Error* error) {
  base::Status status = ToStatus(error);
  TRITONSERVER_ErrorDelete(error);
  return status;
}

TRITONSERVER_Error* NullArgument(const char* function, const char* arguments, size_t index) {
  return Guard([&] {
    constexpr std::string_view kBetween = ", ";
    std::string_view name = arguments;
    for (size_t i = 0; i < index; ++i) name.remove_prefix(name.find(kBetween) + kBetween.size());
    return base::Status::InvalidArgument(std::string(function) + ": argument '" +
                                         std::string(name.substr(0, name.find(kBetween))) +
                                         "' must not be NULL");
  });
}

TRITONSERVER_Error* MissingFeature(const char* function, const char* feature) {
  return Guard([&] {
    return base::Status::Unsupported(std::string(function) + ": this version has no " + feature);
  });
}

TRITONSERVER_Error* OutOfMemory() noexcept { return Wrap(OutOfMemoryStatus()); }

TRITONSERVER_Error* UnexpectedException(const char* what) noexcept {
  try {
    return ToError(base::Status::Internal(std::string("unexpected exception: ") + what));
  } catch (...) {
    return OutOfMemory();
  }
}

}  // namespace nereid::abi

using namespace nereid;

extern "C" {

TRITONSERVER_Error* TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char* msg) {
  return abi::Guard(
      [&] { return base::Status(abi::ToStatusCode(code), msg == nullptr ? "" : msg); });
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) {
  if (abi::IsLent(error) || error == abi::OutOfMemory()) return;
  delete abi::Unwrap(error);
}

TRITONSERVER_Error_Code TRITONSERVER_ErrorCode(TRITONSERVER_Error* error) {
  return error == nullptr ? TRITONSERVER_ERROR_UNKNOWN
                          : abi::ToErrorCode(abi::Unwrap(error)->code());
}

const char* TRITONSERVER_ErrorCodeString(TRITONSERVER_Error* error) {
  if (error == nullptr) return "<invalid code>";
  switch (TRITONSERVER_ErrorCode(error)) {
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
      break;  // this API has no text for it
  }
  return "<invalid code>";
}

const char* TRITONSERVER_ErrorMessage(TRITONSERVER_Error* error) {
  return error == nullptr ? "" : abi::Unwrap(error)->message().c_str();
}

}  // extern "C"
