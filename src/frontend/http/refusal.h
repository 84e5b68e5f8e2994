// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "memory/receive_buffer.h"

namespace nereid::frontend::http {

/// What a request is answered with that is not read to its end.
struct Refusal {
  int status = 0;  // 0: it is not refused
  std::string text;
};

/// The refusal of a body for which there is no memory. Not for kDone.
Refusal RefusalOf(memory::ReceiveBuffer::Outcome outcome);

}  // namespace nereid::frontend::http
