// SPDX-License-Identifier: Apache-2.0
#include "schedule/execution_messages.h"

namespace nereid::schedule {
namespace {

std::string Seconds(uint64_t ns) { return std::to_string(ns / 1'000'000'000) + " s"; }

std::string Subject(const ExecutionName& name) {
  return "model '" + name.model + "': instance '" + name.instance + "' ";
}

}  // namespace

std::string StuckMessage(const ExecutionName& name, uint64_t elapsed_ns, uint64_t limit_ns,
                         bool taken_up) {
  return Subject(name) + "has been executing for " + Seconds(elapsed_ns) + " (limit " +
         Seconds(limit_ns) + "); stuck " +
         (taken_up ? "in the execute function of its backend"
                   : "before the execution: its thread has not taken up the batch");
}

std::string LateEndMessage(const ExecutionName& name, uint64_t elapsed_ns, uint64_t limit_ns) {
  return Subject(name) + "has finished a long execution, which took " + Seconds(elapsed_ns) +
         " (limit " + Seconds(limit_ns) + ")";
}

std::string HeldLoopMessage(const std::string& model, uint64_t elapsed_ns) {
  return "model '" + model + "': an execution took " + std::to_string(elapsed_ns / 1'000'000) +
         " ms on the event loop that received the request, although earlier executions were "
         "short; for some time executions run on the instances' threads (--inline-execution=never, "
         "or the model parameter inline_execution, makes that permanent)";
}

}  // namespace nereid::schedule
