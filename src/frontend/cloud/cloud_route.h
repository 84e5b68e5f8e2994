// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "api/access/operation.h"
#include "frontend/http/request_head.h"

namespace nereid::frontend::cloud {

/// One method of a path, with the operation that decides who may call it. A route without an
/// operation cannot be written.
struct CloudRoute {
  http::Method method;
  /// The path, with {names} for the parts that a client or the platform chooses.
  std::string_view form;
  api::Operation operation;
};

}  // namespace nereid::frontend::cloud
