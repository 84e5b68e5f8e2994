// SPDX-License-Identifier: Apache-2.0
#include "request/request_fields.h"

namespace nereid::request {

std::string RequestFields::LogPrefix() const {
  return "[request id: " + (id.empty() ? std::string("<id_unknown>") : id) + "] ";
}

}  // namespace nereid::request
