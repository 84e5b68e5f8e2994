// SPDX-License-Identifier: Apache-2.0
#include "python/completion.h"

#include <sys/eventfd.h>

#include <memory>
#include <utility>

#include "nereid/backend/json.h"
#include "python/worker_loop.h"

namespace nereid::python {

using backend::Error;

namespace {

constexpr const char* kSchedulers[] = {"dynamic_batching", "sequence_batching",
                                       "ensemble_scheduling"};

const char* SchedulerOf(const rapidjson::Value& config) {
  for (const char* name : kSchedulers) {
    if (config.HasMember(name)) {
      return name;
    }
  }
  return nullptr;
}

void CopyMember(const char* name, const rapidjson::Value& from, rapidjson::Document* to) {
  const auto found = from.FindMember(name);
  if (found == from.MemberEnd()) {
    return;
  }
  rapidjson::Value value(found->value, to->GetAllocator());
  if (const auto old = to->FindMember(name); old != to->MemberEnd()) {
    old->value = std::move(value);
  } else {
    to->AddMember(rapidjson::Value(name, to->GetAllocator()), value, to->GetAllocator());
  }
}

}  // namespace

Error RunCompletion(const SupervisorSettings& settings, Spawner* spawner, std::string* completed) {
  Process process;
  const base::UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  NEREID_BACKEND_TRY(spawner->Spawn(settings.command, &process));
  const auto worker =
      std::make_shared<Worker>(std::move(process), settings.memory_limit, wake.get());
  bool answered = false;
  Error refusal;
  const auto started = [&](const WireDone& done) {
    answered = true;
    if (done.ok) {
      *completed = std::string(done.text);
    } else {
      refusal = Error::Internal(std::string(done.text));
    }
    worker->Kill("its work is done");
  };
  WorkerLoop loop(settings.loop, worker, wake.get(), started, [](uint64_t, const WireDone&) {});
  loop.Run([] { return false; });
  loop.Close();
  if (!answered) {
    return Error::Internal("Stub process '" + settings.loop.name + "' is not healthy. " +
                           worker->WaitForReason());
  }
  return refusal;
}

Error MergeCompletion(const std::string& completed, rapidjson::Document* document) {
  rapidjson::Document config;
  config.Parse<rapidjson::kParseIterativeFlag>(completed.data(), completed.size());
  if (config.HasParseError() || !config.IsObject()) {
    return Error::Internal("the completed configuration of the Python model is no JSON object");
  }
  const char* before = SchedulerOf(*document);
  const char* after = SchedulerOf(config);
  if (before != nullptr && after != nullptr && before != std::string_view(after)) {
    // Triton's message names the configured scheduler twice.
    return Error::Internal(std::string("Cannot update scheduling choice from ") + before + " to " +
                           before + " when auto-completing.");
  }
  for (const char* name : {"max_batch_size", "input", "output", "model_transaction_policy"}) {
    CopyMember(name, config, document);
  }
  if (before == nullptr && after != nullptr) {
    CopyMember(after, config, document);
  }
  return {};
}

}  // namespace nereid::python
