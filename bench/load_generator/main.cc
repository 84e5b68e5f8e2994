// SPDX-License-Identifier: Apache-2.0
// nereid-bench-client: a closed loop of inference requests, with the result as one JSON object.
//
// First the program warms up and waits until no request is in flight. Then it reads the server's
// CPU time, sends requests for the given seconds, waits again, and reads the CPU time once more.
// The CPU time therefore belongs to exactly the answers by which it is divided. Throughput and
// latencies are those of the answers within the given seconds.
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "connection.h"
#include "options.h"
#include "payload.h"
#include "process_cpu.h"

namespace nereid::bench {
namespace {

constexpr uint64_t kSecond = 1000000000;
// The maximum time for an answer after the end of a phase.
constexpr uint64_t kPatienceNs = 60 * kSecond;

class Load {
 public:
  explicit Load(Run& run)
      : run_(run),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        connections_(static_cast<size_t>(run.options.connections)) {}
  ~Load() { close(epoll_); }

  /// Opens all connections. Returns false with a message on stderr if the server does not accept
  /// them.
  bool Connect() {
    for (size_t i = 0; i < connections_.size(); ++i) {
      if (Open(i)) continue;
      std::fprintf(stderr, "nereid-bench-client: cannot connect to %s:%d: %s\n",
                   run_.options.host.c_str(), run_.options.port, std::strerror(errno));
      return false;
    }
    return true;
  }

  /// Sends requests for `seconds`, then waits for the answers. Returns false if the server stopped
  /// answering.
  bool Phase(double seconds) {
    const uint64_t end = NowNs() + static_cast<uint64_t>(seconds * 1e9);
    run_.window_end_ns = end;
    run_.sending = true;
    for (auto& connection : connections_) connection->Start();
    while (run_.sending || run_.under_way > 0) {
      const uint64_t now = NowNs();
      if (now >= end) run_.sending = false;
      if (now >= end + kPatienceNs) {
        std::fprintf(stderr, "nereid-bench-client: %d requests were not answered within 60 s\n",
                     run_.under_way);
        return false;
      }
      if (run_.errors > 100 && run_.errors > run_.answers) return false;
      if (!Poll()) return false;
    }
    return true;
  }

 private:
  bool Open(size_t index) {
    std::unique_ptr<Link> link = nereid::bench::Connect(run_.options);
    if (link == nullptr) return false;
    const int fd = link->fd();
    connections_[index] = run_.options.protocol == Protocol::kHttp
                              ? MakeHttpConnection(run_, std::move(link))
                              : MakeGrpcConnection(run_, std::move(link));
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.u64 = index;
    return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
  }

  bool Poll() {
    epoll_event events[64];
    const int count = epoll_wait(epoll_, events, 64, 50);
    for (int i = 0; i < count; ++i) {
      const size_t index = events[i].data.u64;
      if (connections_[index]->OnEvent(events[i].events)) continue;
      if (!Open(index)) {
        std::fprintf(stderr, "nereid-bench-client: the connection was lost (%s) and is refused\n",
                     run_.first_error.c_str());
        return false;
      }
      if (run_.sending) connections_[index]->Start();
    }
    return true;
  }

  Run& run_;
  const int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

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

void Print(const Run& run, const ProcessCpu& before, const ProcessCpu& after, uint64_t own_us) {
  const double seconds = run.options.seconds;
  const double each = run.answers > 0 ? 1.0 / static_cast<double>(run.answers) : 0;
  std::printf("{\"requests\": %llu, \"errors\": %llu, \"seconds\": %.3f, \"throughput\": %.1f",
              static_cast<unsigned long long>(run.answers),
              static_cast<unsigned long long>(run.errors), seconds,
              static_cast<double>(run.answers_in_window) / seconds);
  std::printf(", \"p50_us\": %.1f, \"p99_us\": %.1f",
              static_cast<double>(run.latencies.Quantile(0.5)) / 1e3,
              static_cast<double>(run.latencies.Quantile(0.99)) / 1e3);
  if (run.options.server_pid != 0) {
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
  const auto owned = std::make_unique<Run>(options);
  Run& run = *owned;
  run.tensor = MakeTensor(options);
  if (run.tensor.empty()) {
    std::fprintf(stderr, "nereid-bench-client: --datatype '%s' is not supported\n",
                 options.datatype.c_str());
    return 2;
  }
  run.request = MakeRequest(options, run.tensor);
  run.have_output = !options.body.empty();  // the answers to such requests are not read
  Load load(run);
  if (!load.Connect() || !load.Phase(options.warmup_seconds)) {
    if (!run.first_error.empty()) std::fprintf(stderr, "%s\n", run.first_error.c_str());
    return 1;
  }
  const bool verify = options.verify_identity && options.body.empty();
  if (!run.have_output || (verify && run.output != run.tensor)) {
    std::fprintf(stderr, "nereid-bench-client: the output of the first answer is not the input%s\n",
                 run.first_error.empty() ? "" : (": " + run.first_error).c_str());
    return 1;
  }
  run.answers = run.answers_in_window = 0;
  run.latencies = Histogram();

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
  const bool finished = load.Phase(options.seconds);
  const auto own_after = ReadProcessCpu(getpid()).value_or(ProcessCpu{});
  if (!read(after)) return 1;
  Print(run, before, after,
        own_after.user_us + own_after.system_us - own_before.user_us - own_before.system_us);
  return finished && run.errors == 0 ? 0 : 1;
}

}  // namespace
}  // namespace nereid::bench

int main(int argc, char** argv) { return nereid::bench::Main(argc, argv); }
