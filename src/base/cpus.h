// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/status.h"

namespace nereid::base {

/// The CPUs that a list names, as in "0-3,8" (Linux's and cpu-cores' form): sorted, each once.
/// INVALID_ARG for another form and for numbers from 1024 on.
Result<std::vector<int>> ParseCpuList(std::string_view text);

/// "0-3,8"
std::string FormatCpuList(const std::vector<int>& cpus);

/// The share of the machine that a control group grants, in CPUs; none without a limit. `root` is
/// where the control groups are mounted. Reads cpu.max (version 2) or cpu.cfs_quota_us and
/// cpu.cfs_period_us (version 1) of the root, which inside a container is the container's own.
std::optional<double> CpuQuota(const std::string& root = "/sys/fs/cgroup");

/// How many CPUs' worth of threads this process can keep busy: its affinity mask, cut to the quota
/// (rounded up); at least 1.
int UsableCpuCount();

/// Where a thread may run and where its memory comes from. Empty: anywhere.
struct CpuPlacement {
  std::vector<int> cpus;
  std::optional<int> numa_node;

  bool empty() const { return cpus.empty() && !numa_node; }
  bool operator==(const CpuPlacement&) const = default;
};

/// Whether a thread of this process can be placed so: INVALID_ARG if none of the CPUs is there or
/// permitted, or if the node does not exist. `nodes` is Linux's directory of NUMA nodes.
Status CheckPlacement(const CpuPlacement& placement,
                      const std::string& nodes = "/sys/devices/system/node");

/// The CPUs of a NUMA node; INVALID_ARG if there is no such node.
Result<std::vector<int>> CpusOfNode(int node,
                                    const std::string& nodes = "/sys/devices/system/node");

/// Places the calling thread; threads that it starts from then on inherit that. Where the kernel
/// forbids a memory policy, as in many containers, the memory comes from anywhere.
Status PlaceThisThread(const CpuPlacement& placement);

/// Places the calling thread for as long as it lives, and puts it back. For the time in which a
/// framework starts threads of its own.
class ScopedPlacement {
 public:
  explicit ScopedPlacement(const CpuPlacement& placement);
  ~ScopedPlacement();
  ScopedPlacement(const ScopedPlacement&) = delete;
  ScopedPlacement& operator=(const ScopedPlacement&) = delete;

 private:
  std::vector<int> before_;  // empty: nothing was changed
  bool has_memory_policy_ = false;
};

}  // namespace nereid::base
