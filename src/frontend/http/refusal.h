// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "memory/receive_buffer.h"

namespace nereid::frontend::http {

/// The reply to a request that is not read to its end.
struct Refusal {
  int status = 0;  // 0: the request is not refused
  std::string text;
};

/// Returns the refusal of a body for which there is no memory. `outcome` is not kDone.
Refusal RefusalOf(memory::ReceiveBuffer::Outcome outcome);

}  // namespace nereid::frontend::http
