// SPDX-License-Identifier: Apache-2.0
#include "api/status_map.h"

namespace nereid::api {

int HttpStatus(base::StatusCode code) {
  switch (code) {
    case base::StatusCode::kOk:
      return 200;
    case base::StatusCode::kInternal:
      return 500;
    case base::StatusCode::kNotFound:
      return 404;
    case base::StatusCode::kUnavailable:
      return 503;
    case base::StatusCode::kUnsupported:
      return 501;
    case base::StatusCode::kUnknown:
    case base::StatusCode::kInvalidArgument:
    case base::StatusCode::kAlreadyExists:
    case base::StatusCode::kCancelled:
      return 400;
  }
  return 400;
}

int GrpcStatus(base::StatusCode code) {
  switch (code) {
    case base::StatusCode::kOk:
      return 0;
    case base::StatusCode::kCancelled:
      return 1;
    case base::StatusCode::kUnknown:
      return 2;
    case base::StatusCode::kInvalidArgument:
      return 3;
    case base::StatusCode::kNotFound:
      return 5;
    case base::StatusCode::kAlreadyExists:
      return 6;
    case base::StatusCode::kUnsupported:
      return 12;
    case base::StatusCode::kInternal:
      return 13;
    case base::StatusCode::kUnavailable:
      return 14;
  }
  return 2;
}

int HttpStatus(RefusalKind kind) {
  switch (kind) {
    case RefusalKind::kNone:
      return 200;
    case RefusalKind::kUnauthenticated:
      return 401;
    case RefusalKind::kRestricted:
    case RefusalKind::kForbidden:
      return 403;
  }
  return 403;
}

int GrpcStatus(RefusalKind kind) {
  switch (kind) {
    case RefusalKind::kNone:
      return 0;
    case RefusalKind::kForbidden:
      return 7;
    case RefusalKind::kRestricted:
      return 14;  // Triton's
    case RefusalKind::kUnauthenticated:
      return 16;
  }
  return 7;
}

}  // namespace nereid::api
