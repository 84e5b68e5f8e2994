// SPDX-License-Identifier: Apache-2.0
// Messages of the scheduler about executions that take long.
#pragma once

#include <cstdint>
#include <string>

namespace nereid::schedule {

/// The names of the model and the instance of an execution.
struct ExecutionName {
  const std::string& model;
  const std::string& instance;
};

/// Returns the message about an execution that has not ended after `elapsed_ns`. `taken_up`: the
/// instance's thread has begun it.
std::string StuckMessage(const ExecutionName& name, uint64_t elapsed_ns, uint64_t limit_ns,
                         bool taken_up);

/// Returns the message about an execution that ended after more than the limit.
std::string LateEndMessage(const ExecutionName& name, uint64_t elapsed_ns, uint64_t limit_ns);

/// Returns the message about an execution that held up an event loop.
std::string HeldLoopMessage(const std::string& model, uint64_t elapsed_ns);

}  // namespace nereid::schedule
