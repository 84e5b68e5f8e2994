// SPDX-License-Identifier: Apache-2.0
// The steps of a server's stop: new work is refused, requests in progress finish, the models are
// unloaded. See ServerPhase for the phases of the server meanwhile.
#include "server/stopping.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "request/stopping_status.h"

namespace nereid::server {

using base::Status;

namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr std::chrono::milliseconds kPoll{5};

uint64_t SecondsLeft(uint64_t now_ns, uint64_t deadline_ns) {
  return deadline_ns > now_ns ? (deadline_ns - now_ns + kSecondNs - 1) / kSecondNs : 0;
}

// A request that has been answered counts too, until its backend releases it.
constexpr const char* kHeld = "Models that backends still hold";

/// Returns " <title>: <item>, <item>", or "" for an empty list.
std::string List(const char* title, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? ": " : ", ") + item;
  return text.empty() ? text : " " + (title + text);
}

/// Logs the lines that Triton logs each second.
void LogInFlight(const repository::ModelLifecycle& lifecycle, uint64_t seconds_left) {
  const auto bound = lifecycle.BoundVersions();
  LOG_INFO << "Timeout " << seconds_left << ": Found " << bound.size()
           << " model versions that have in-flight inferences";
  for (const auto& version : bound) {
    LOG_INFO_OF(.model = version.id.name)
        << "Model '" << version.id << "' (version " << version.version << ") has "
        << version.requests << " in-flight inferences";
  }
  for (const std::string& model : lifecycle.gate().Loading()) {
    LOG_INFO_OF(.model = model) << "Model '" << model << "' is being loaded";
  }
}

constexpr const char* kExpired = "Exit timeout expired. Exiting immediately.";

}  // namespace

Status CheckContinues(const request::InferenceRequest& request,
                      const model::ModelVersion& version) {
  const bool has_sequences = version.HasSequences();
  // The scheduler decides whether the sequence exists.
  if (has_sequences && request.ContinuesSequence()) return Status::Ok();
  const Status stopping = StoppingStatus(request, /*names_unknown=*/!has_sequences);
  // A member refuses the request in Triton.
  return version.config().is_ensemble()
             ? stopping.WithPrefix("in ensemble '" + version.identity().name + "', ")
             : stopping;
}

Status StoppingStatus(const request::InferenceRequest& request, bool names_unknown) {
  const bool named = names_unknown || !request.id.empty();
  const Status stopping = request::StoppingStatus();
  return named ? stopping.WithPrefix(request.LogPrefix()) : stopping;
}

bool IsIdle(const repository::ModelLifecycle& lifecycle) {
  return lifecycle.BoundVersions().empty() && lifecycle.gate().Loading().empty();
}

bool WaitUntilIdle(const repository::ModelLifecycle& lifecycle, uint64_t deadline_ns) {
  const base::Clock& clock = base::SteadyClock();
  LOG_INFO << "Waiting for in-flight requests to complete.";
  uint64_t next_line_ns = 0;
  while (true) {
    const uint64_t now_ns = clock.NowNs();
    const bool idle = IsIdle(lifecycle);
    if (idle || now_ns >= next_line_ns || now_ns >= deadline_ns) {
      LogInFlight(lifecycle, SecondsLeft(now_ns, deadline_ns));
      next_line_ns = now_ns + kSecondNs;
    }
    if (idle || now_ns >= deadline_ns) return idle;
    std::this_thread::sleep_for(kPoll);
  }
}

Status ExpiredStatus(const repository::ModelLifecycle& lifecycle) {
  std::vector<std::string> busy, held;
  for (const auto& version : lifecycle.BoundVersions()) {
    (version.leaving ? held : busy).push_back(VersionText(version.id, version.version));
  }
  return Status::Internal(kExpired + List("Models with requests or sequences in flight", busy) +
                          List(kHeld, held) +
                          List("Models that are being loaded", lifecycle.gate().Loading()));
}

Status UnloadAllModels(repository::ModelLifecycle& lifecycle, uint64_t deadline_ns, bool log) {
  const base::Clock& clock = base::SteadyClock();
  if (log) LOG_INFO << "All models are stopped, unloading models";
  lifecycle.UnloadAll();
  uint64_t next_line_ns = 0;
  const std::vector<std::string> left = lifecycle.WaitUntilGone([&] {
    const uint64_t now_ns = clock.NowNs();
    if (log && now_ns >= next_line_ns) {
      LOG_INFO << "Timeout " << SecondsLeft(now_ns, deadline_ns) << ": Found "
               << lifecycle.LivingVersions()
               << " live models and 0 in-flight non-inference requests";
      next_line_ns = now_ns + kSecondNs;
    }
    return now_ns >= deadline_ns;
  });
  if (left.empty()) return Status::Ok();
  return Status::Internal(kExpired + List(kHeld, left));
}

}  // namespace nereid::server
