// SPDX-License-Identifier: Apache-2.0
#include "base/cpus.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "base/files.h"
#include "base/parse_number.h"

namespace nereid::base {
namespace {

constexpr int kMaxCpus = CPU_SETSIZE;

std::optional<int> ParseCpu(std::string_view text) {
  const auto value = ParseWhole<int>(text);
  if (!value || *value < 0 || *value >= kMaxCpus) return std::nullopt;
  return value;
}

std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::optional<double> ParsePositive(std::string_view text) {
  const auto value = ParseWhole<double>(text);
  if (!value || !(*value > 0)) return std::nullopt;
  return value;
}

std::optional<double> Quotient(std::string_view quota, std::string_view period) {
  const auto q = ParsePositive(quota);
  const auto p = ParsePositive(period);
  if (!q || !p) return std::nullopt;
  return *q / *p;
}

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

bool SetAllowedCpus(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

/// Makes the kernel prefer `node` for the calling thread's memory; without a node, restores the
/// default. The same policy as libnuma's numa_set_preferred, as one system call instead of a
/// library.
void PreferMemoryOf(std::optional<int> node) {
  constexpr size_t kBits = 8 * sizeof(unsigned long);
  unsigned long mask[kMaxCpus / kBits] = {};
  if (!node || static_cast<size_t>(*node) >= kMaxCpus) {
    syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0UL);
    return;
  }
  const auto bit = static_cast<size_t>(*node);
  mask[bit / kBits] |= 1UL << (bit % kBits);
  syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask, static_cast<unsigned long>(kMaxCpus));
}

}  // namespace

Result<std::vector<int>> ParseCpuList(std::string_view text) {
  std::set<int> cpus;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view part = rest.substr(0, comma);
    if (more) rest.remove_prefix(comma + 1);
    const size_t dash = part.find('-');
    const auto first = ParseCpu(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : ParseCpu(part.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return Status::InvalidArgument("'" + std::string(text) +
                                     "' is no list of CPUs, like 0-3,8 (each below " +
                                     std::to_string(kMaxCpus) + ")");
    }
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return std::vector<int>(cpus.begin(), cpus.end());
}

std::string FormatCpuList(const std::vector<int>& cpus) {
  std::string text;
  for (size_t i = 0; i < cpus.size();) {
    size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

std::optional<double> CpuQuota(const std::string& root) {
  if (const auto max = ReadFile(JoinPath(root, "cpu.max"), 4096); max.ok()) {
    const std::string text = Trimmed(*max);  // "max 100000" or "150000 100000"
    const size_t space = text.find(' ');
    if (space == std::string::npos) return std::nullopt;
    return Quotient(text.substr(0, space), text.substr(space + 1));
  }
  const auto quota = ReadFile(JoinPath(root, "cpu/cpu.cfs_quota_us"), 4096);
  const auto period = ReadFile(JoinPath(root, "cpu/cpu.cfs_period_us"), 4096);
  if (!quota.ok() || !period.ok()) return std::nullopt;
  return Quotient(Trimmed(*quota), Trimmed(*period));
}

int AvailableCpuCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int UsableCpuCount() {
  const int allowed = AvailableCpuCount();
  const auto quota = CpuQuota();
  if (!quota || *quota >= allowed) return allowed;
  return std::max(1, static_cast<int>(std::ceil(*quota)));
}

Result<std::vector<int>> CpusOfNode(int node, const std::string& nodes) {
  const auto list =
      ReadFile(JoinPath(nodes, "node" + std::to_string(node) + "/cpulist"), size_t{64} << 10);
  if (!list.ok()) {
    return Status::InvalidArgument("this machine has no NUMA node " + std::to_string(node));
  }
  const std::string text = Trimmed(*list);
  if (text.empty()) return std::vector<int>{};  // the node has memory but no CPUs
  return ParseCpuList(text);
}

Status CheckPlacement(const CpuPlacement& placement, const std::string& nodes) {
  if (placement.numa_node) NEREID_RETURN_IF_ERROR(CpusOfNode(*placement.numa_node, nodes).status());
  if (placement.cpus.empty()) return Status::Ok();
  const std::vector<int> allowed = AllowedCpus();
  for (const int cpu : placement.cpus) {
    if (!std::binary_search(allowed.begin(), allowed.end(), cpu)) {
      return Status::InvalidArgument("CPU " + std::to_string(cpu) +
                                     " is not there, or this process may not run on it; it may "
                                     "run on " +
                                     FormatCpuList(allowed));
    }
  }
  return Status::Ok();
}

Status PlaceThisThread(const CpuPlacement& placement) {
  if (placement.numa_node) PreferMemoryOf(placement.numa_node);
  if (!placement.cpus.empty() && !SetAllowedCpus(placement.cpus)) {
    return Status::InvalidArgument("a thread cannot be bound to the CPUs " +
                                   FormatCpuList(placement.cpus));
  }
  return Status::Ok();
}

ScopedPlacement::ScopedPlacement(const CpuPlacement& placement)
    : has_memory_policy_(placement.numa_node.has_value()) {
  if (!placement.cpus.empty()) before_ = AllowedCpus();
  // A failure is ignored: CheckPlacement has reported it when the model was loaded.
  (void)PlaceThisThread(placement);
}

ScopedPlacement::~ScopedPlacement() {
  if (!before_.empty()) SetAllowedCpus(before_);
  if (has_memory_policy_) PreferMemoryOf(std::nullopt);
}

}  // namespace nereid::base
