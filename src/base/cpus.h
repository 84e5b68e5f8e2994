// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/status.h"

namespace nereid::base {

/// Parses a list of CPUs such as "0-3,8", the format of Linux's cpulist files. Returns the numbers
/// sorted and without duplicates. INVALID_ARG for any other format and for numbers from 1024 on.
Result<std::vector<int>> ParseCpuList(std::string_view text);

/// Formats sorted CPU numbers as a list such as "0-3,8".
std::string FormatCpuList(const std::vector<int>& cpus);

/// Returns the CPU time that the control group grants, as a number of CPUs, or nothing when there
/// is no limit. `root` is the directory where control groups are mounted. Reads cpu.max (version
/// 2), or cpu.cfs_quota_us and cpu.cfs_period_us (version 1), of the root group. Inside a container
/// the root group is the container's own.
std::optional<double> CpuQuota(const std::string& root = "/sys/fs/cgroup");

/// Returns the number of CPUs in this process's affinity mask, at least 1.
int AvailableCpuCount();

/// Returns how many threads this process can keep busy: the number of CPUs in its affinity mask, or
/// the CPU quota rounded up where that is less; at least 1.
int UsableCpuCount();

/// The CPUs that a thread may run on and the NUMA node that its memory comes from. When empty, both
/// are unrestricted.
struct CpuPlacement {
  std::vector<int> cpus;
  std::optional<int> numa_node;

  bool empty() const { return cpus.empty() && !numa_node; }
  bool operator==(const CpuPlacement&) const = default;
};

/// Checks that a thread of this process can be placed as `placement` says. INVALID_ARG if one of
/// the CPUs does not exist or is not permitted, or if the NUMA node does not exist. `nodes` is
/// Linux's directory of NUMA nodes.
Status CheckPlacement(const CpuPlacement& placement,
                      const std::string& nodes = "/sys/devices/system/node");

/// Returns the CPUs of a NUMA node. INVALID_ARG if there is no such node.
Result<std::vector<int>> CpusOfNode(int node,
                                    const std::string& nodes = "/sys/devices/system/node");

/// Places the calling thread and all threads that it starts afterwards. Where the kernel forbids a
/// memory policy, as in many containers, memory may come from any node. INVALID_ARG if the CPUs are
/// refused.
Status PlaceThisThread(const CpuPlacement& placement);

/// Places the calling thread while the object lives, and restores the previous placement
/// afterwards. For calls in which a framework starts its own threads, which inherit the placement.
class ScopedPlacement {
 public:
  explicit ScopedPlacement(const CpuPlacement& placement);
  ~ScopedPlacement();
  ScopedPlacement(const ScopedPlacement&) = delete;
  ScopedPlacement& operator=(const ScopedPlacement&) = delete;

 private:
  std::vector<int> before_;  // empty when the affinity was not changed
  bool has_memory_policy_ = false;
};

}  // namespace nereid::base
