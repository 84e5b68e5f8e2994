// SPDX-License-Identifier: Apache-2.0
// nereid-bench-client: a closed loop of inference requests, with the result as one JSON object.
//
// First the program warms up and waits until no request is in flight. Then it reads the server's
// CPU time, sends requests for the given seconds, waits again, and reads the CPU time once more.
// The CPU time therefore belongs to exactly the answers by which it is divided. Throughput and
// latencies are those of the answers within the given seconds.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "load/connection.h"
#include "load/load_loop.h"
#include "options.h"
#include "payload.h"
#include "process_cpu.h"

namespace nereid::bench {
namespace {

constexpr uint64_t kSecond = 1000000000;
// The maximum time for an answer after the end of a phase.
constexpr uint64_t kPatienceNs = 60 * kSecond;

using load::NowNs;
using load::Run;

/// Sends requests for `seconds`, then waits for the answers. Returns false, with a message on
/// stderr, if the server stopped answering.
bool Phase(Run& run, load::LoadLoop& loop, double seconds) {
  run.window_end_ns = NowNs() + static_cast<uint64_t>(seconds * 1e9);
  loop.StartClosed();
  if (loop.RunUntil(run.window_end_ns) && loop.Drain(kPatienceNs)) return true;
  std::fprintf(stderr, "nereid-bench-client: %s\n", loop.error().c_str());
  return false;
}

/// Sets the target and how requests are made and answers read.
bool Prepare(const Options& options, Run& run) {
  run.target.protocol =
      options.protocol == Protocol::kHttp ? load::Protocol::kHttp : load::Protocol::kGrpc;
  run.target.host = options.host;
  run.target.port = options.port;
  run.streams = options.streams;
  run.sequence = options.sequence;
  std::string error;
  if (options.tls) run.target.tls = load::MakeTlsContext({.verify = false, .ca_file = ""}, &error);
  if ((options.tls && run.target.tls == nullptr) || !load::Resolve(&run.target, &error)) {
    std::fprintf(stderr, "nereid-bench-client: cannot connect to %s: %s\n",
                 run.target.Authority().c_str(), error.c_str());
    return false;
  }
  if (!options.body.empty()) return true;  // the answers to such requests are not read
  run.take_output = [&options](std::string_view body, int64_t json_size) {
    if (options.protocol == Protocol::kGrpc) return OutputOfGrpcMessage(body);
    return options.encoding == Encoding::kJson
               ? OutputOfJsonBody(body, options.datatype)
               : OutputOfBinaryBody(body, static_cast<size_t>(json_size));
  };
  return true;
}

/// Computes FNV-1a, to compare the outputs of two servers.
uint64_t Digest(const std::string& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

/// Returns `text` as the content of a JSON string.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<uint8_t>(c) >= 0x20 && static_cast<uint8_t>(c) < 0x7f) out += c;
  }
  return out;
}

void Print(const Options& options, const Run& run, const ProcessCpu& before,
           const ProcessCpu& after, uint64_t own_us) {
  const double seconds = options.seconds;
  const double each = run.answers > 0 ? 1.0 / static_cast<double>(run.answers) : 0;
  std::printf("{\"requests\": %llu, \"errors\": %llu, \"seconds\": %.3f, \"throughput\": %.1f",
              static_cast<unsigned long long>(run.answers),
              static_cast<unsigned long long>(run.errors), seconds,
              static_cast<double>(run.answers_in_window) / seconds);
  std::printf(", \"p50_us\": %.1f, \"p99_us\": %.1f",
              static_cast<double>(run.latencies.Quantile(0.5)) / 1e3,
              static_cast<double>(run.latencies.Quantile(0.99)) / 1e3);
  if (options.server_pid != 0) {
    const auto user = static_cast<double>(after.user_us - before.user_us);
    const auto system = static_cast<double>(after.system_us - before.system_us);
    std::printf(", \"server_cpu_us\": %.3f, \"server_user_us\": %.3f, \"server_system_us\": %.3f",
                (user + system) * each, user * each, system * each);
  }
  std::printf(", \"client_cpu_us\": %.3f, \"request_bytes\": %zu, \"output_bytes\": %zu",
              static_cast<double>(own_us) * each, run.request.size(), run.output.size());
  std::printf(", \"output_digest\": \"%016llx\", \"first_error\": \"%s\"}\n",
              static_cast<unsigned long long>(Digest(run.output)),
              Escaped(run.first_error).c_str());
}

int Main(int argc, char** argv) {
  const Options options = ParseCommandLine(argc, argv);
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  const auto owned = std::make_unique<Run>();
  Run& run = *owned;
  const std::string tensor = MakeTensor(options);
  if (tensor.empty()) {
    std::fprintf(stderr, "nereid-bench-client: --datatype '%s' is not supported\n",
                 options.datatype.c_str());
    return 2;
  }
  run.request = MakeRequest(options, tensor);
  run.make_request = [&](load::Turn turn) { return MakeRequest(options, tensor, turn); };
  if (!Prepare(options, run)) return 1;
  load::LoadLoop loop(run, static_cast<size_t>(options.connections));
  if (!loop.Connect()) {
    std::fprintf(stderr, "nereid-bench-client: %s\n", loop.error().c_str());
    return 1;
  }
  if (!Phase(run, loop, options.warmup_seconds)) return 1;
  const bool verify = options.verify_identity && options.body.empty();
  if ((run.take_output && !run.have_output) || (verify && run.output != tensor)) {
    std::fprintf(stderr, "nereid-bench-client: the output of the first answer is not the input%s\n",
                 run.first_error.empty() ? "" : (": " + run.first_error).c_str());
    return 1;
  }
  run.answers = run.answers_in_window = 0;
  run.latencies = load::Histogram();

  ProcessCpu before;
  ProcessCpu after;
  const auto read = [&](ProcessCpu& into) {
    if (options.server_pid == 0) return true;
    const auto cpu = ReadProcessCpu(options.server_pid);
    if (!cpu) {
      std::fprintf(stderr, "nereid-bench-client: there is no process %d\n", options.server_pid);
      return false;
    }
    into = *cpu;
    return true;
  };
  if (!read(before)) return 1;
  const auto own_before = ReadProcessCpu(getpid()).value_or(ProcessCpu{});
  const bool finished = Phase(run, loop, options.seconds);
  const auto own_after = ReadProcessCpu(getpid()).value_or(ProcessCpu{});
  if (!read(after)) return 1;
  Print(options, run, before, after,
        own_after.user_us + own_after.system_us - own_before.user_us - own_before.system_us);
  return finished && run.errors == 0 ? 0 : 1;
}

}  // namespace
}  // namespace nereid::bench

int main(int argc, char** argv) { return nereid::bench::Main(argc, argv); }
