// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/threads.h"

#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>

#include "base/cpus.h"

namespace nereid::onnxruntime {
namespace {

constexpr int64_t kMaxThreads = 4096;
/// Versions of ONNX Runtime that do not know this setting spin until the run ends.
constexpr const char* kSpinMicroseconds = "100";

struct ThreadCounts {
  int64_t intra = 0;
  int64_t inter = 0;
};

Error ReadCounts(const Parameters& settings, ThreadCounts* counts) {
  NEREID_BACKEND_TRY(settings.ReadInt("intra_op_thread_count", 0, kMaxThreads, &counts->intra));
  return settings.ReadInt("inter_op_thread_count", 0, kMaxThreads, &counts->inter);
}

/// Sets the thread counts for a session without explicit numbers. The server's plan is used if
/// there is one (only Nereid makes it). Otherwise a shared pool may use the whole machine, and
/// separate pools divide it.
Error DefaultCounts(const ModelConfig& config, ThreadCounts* counts) {
  bool shared = true;
  NEREID_BACKEND_TRY(SharesSession(config, &shared));
  counts->intra =
      std::max<int64_t>(1, base::UsableCpuCount() / (shared ? 1 : config.instance_count));
  int64_t each = 0;
  NEREID_BACKEND_TRY(config.parameters.ReadInt("cpu_threads_per_instance", 0, kMaxThreads, &each));
  if (each > 0) {
    // In a pool of n, n - 1 threads belong to the session and the last one is the calling instance.
    // With a shared session, all running instances call.
    counts->intra = shared ? config.instance_count * (each - 1) + 1 : each;
  }
  return {};
}

}  // namespace

Error SetThreads(const Parameters& settings, bool global, const ModelConfig& config,
                 OrtSessionOptions* options) {
  if (global) return ToError(Api().DisablePerSessionThreads(options));
  ThreadCounts counts;
  NEREID_BACKEND_TRY(DefaultCounts(config, &counts));
  NEREID_BACKEND_TRY(ReadCounts(settings, &counts));
  NEREID_BACKEND_TRY(ReadCounts(config.parameters, &counts));
  NEREID_ORT_TRY(Api().SetIntraOpNumThreads(options, static_cast<int>(counts.intra)));
  NEREID_ORT_TRY(Api().SetInterOpNumThreads(options, static_cast<int>(counts.inter)));
  // A pool that spins while it waits would keep CPUs busy between requests.
  for (const char* key : {kOrtSessionOptionsConfigAllowIntraOpSpinning,
                          kOrtSessionOptionsConfigAllowInterOpSpinning}) {
    NEREID_ORT_TRY(Api().AddSessionConfigEntry(options, key, "0"));
  }
  return {};
}

Error ThreadsVary(const Parameters& settings, bool global, const ModelConfig& config, bool* vary) {
  NEREID_BACKEND_TRY(config.parameters.ReadBool("cpu_threads_vary", vary));
  bool shares = true;
  NEREID_BACKEND_TRY(SharesSession(config, &shares));
  bool fixed = global || !shares || settings.Find("intra_op_thread_count") != nullptr;
  for (const auto& [key, value] : config.parameters.values()) {
    fixed = fixed || key == "intra_op_thread_count" || key == "execution_mode" ||
            key.starts_with("session.intra_op");
  }
  *vary = *vary && !fixed;
  return {};
}

Error SetVariedThreads(uint32_t threads, OrtSessionOptions* options) {
  NEREID_ORT_TRY(Api().SetIntraOpNumThreads(options, static_cast<int>(threads)));
  NEREID_ORT_TRY(Api().SetInterOpNumThreads(options, 1));
  // The threads of a wide session wait for the next operator of the same run on CPUs that nobody
  // else wants. They sleep when the run ends, or after kSpinMicroseconds without work.
  const bool spins = threads > 1;
  NEREID_ORT_TRY(Api().AddSessionConfigEntry(options, kOrtSessionOptionsConfigAllowIntraOpSpinning,
                                             spins ? "1" : "0"));
  NEREID_ORT_TRY(
      Api().AddSessionConfigEntry(options, kOrtSessionOptionsConfigAllowInterOpSpinning, "0"));
  if (!spins) {
    return {};
  }
  NEREID_ORT_TRY(
      Api().AddSessionConfigEntry(options, "session.intra_op.spin_duration_us", kSpinMicroseconds));
  return ToError(
      Api().AddSessionConfigEntry(options, kOrtSessionOptionsConfigForceSpinningStop, "1"));
}

Error MakeGlobalThreads(const Parameters& settings, Owned<OrtThreadingOptions>* threading) {
  ThreadCounts counts;
  NEREID_BACKEND_TRY(ReadCounts(settings, &counts));
  OrtThreadingOptions* made = nullptr;
  NEREID_ORT_TRY(Api().CreateThreadingOptions(&made));
  threading->reset(made);
  NEREID_ORT_TRY(Api().SetGlobalIntraOpNumThreads(made, static_cast<int>(counts.intra)));
  NEREID_ORT_TRY(Api().SetGlobalInterOpNumThreads(made, static_cast<int>(counts.inter)));
  return ToError(Api().SetGlobalSpinControl(made, 0));
}

Error SharesSession(const ModelConfig& config, bool* shares) {
  *shares = true;
  return config.parameters.ReadBool("share_session_between_instances", shares);
}

}  // namespace nereid::onnxruntime
