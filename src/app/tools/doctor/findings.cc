// SPDX-License-Identifier: Apache-2.0
#include "app/tools/doctor/findings.h"

#include <algorithm>
#include <cstdio>

#include "app/tools/remote/terminal_text.h"
#include "app/tools/report_text.h"
#include "base/json_writer.h"

namespace nereid::app::tools {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kMinOpenFiles = 65'536;
constexpr uint64_t kMinThreads = 4'096;
constexpr uint64_t kMinShmBytes = 256 * kMiB;
constexpr uint64_t kMinMemoryBytes = 1024 * kMiB;
constexpr uint64_t kMinLockedBytes = 64 * kMiB;
constexpr uint64_t kMinFreeDiskBytes = 1024 * kMiB;

/// Collects the findings of one area after the other.
class Report {
 public:
  void Add(Severity severity, std::string area, std::string text, std::string remedy = "") {
    findings_.push_back({severity, std::move(area), std::move(text), std::move(remedy)});
  }
  void Ok(std::string area, std::string text) {
    Add(Severity::kOk, std::move(area), std::move(text));
  }
  std::vector<DoctorFinding> Take() { return std::move(findings_); }

 private:
  std::vector<DoctorFinding> findings_;
};

bool HasFlag(const MachineFacts& facts, const char* flag) {
  return std::find(facts.cpu_flags.begin(), facts.cpu_flags.end(), flag) != facts.cpu_flags.end();
}

std::string Fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

void JudgeCpu(const MachineFacts& facts, Report& report) {
  std::string text = facts.kernel + " " + facts.architecture;
  if (!facts.cpu_model.empty()) text += ", " + facts.cpu_model;
  report.Ok("cpu", text);
  const std::string cpus = std::to_string(facts.permitted_cpus) + " of " +
                           std::to_string(facts.cpus) + " CPUs may be used";
  if (facts.cpu_quota && *facts.cpu_quota < facts.permitted_cpus) {
    report.Add(Severity::kNote, "cpu",
               cpus + ", and the control group grants the time of " + Fixed(*facts.cpu_quota),
               *facts.cpu_quota == static_cast<int>(*facts.cpu_quota)
                   ? ""
                   : "Set the CPU limit of the container to a whole number: a part of a CPU makes "
                     "requests wait for the next period");
  } else {
    report.Ok("cpu", cpus);
  }
  if (facts.architecture != "x86_64" || facts.cpu_flags.empty()) return;
  if (!HasFlag(facts, "avx2") || !HasFlag(facts, "fma")) {
    report.Add(
        Severity::kWarning, "cpu", "no AVX2 and FMA: frameworks run slowly or not at all",
        "Use a CPU from 2013 on, or pass the CPU of the host through to the virtual machine");
    return;
  }
  std::string best = "AVX2";
  if (HasFlag(facts, "avx512f")) best += ", AVX-512";
  if (HasFlag(facts, "avx512_vnni") || HasFlag(facts, "avx_vnni")) best += ", VNNI";
  if (HasFlag(facts, "avx512_bf16")) best += ", BF16";
  if (HasFlag(facts, "amx_tile")) best += ", AMX";
  report.Ok("cpu", "vector units: " + best);
}

void JudgeMemory(const MachineFacts& facts, Report& report) {
  std::string text = ByteText(facts.memory_bytes) + ", of which " +
                     ByteText(facts.available_memory_bytes) + " are available";
  if (facts.usable_memory_bytes < facts.memory_bytes) {
    text += "; the control group permits " + ByteText(facts.usable_memory_bytes);
  }
  const uint64_t usable = std::min(facts.usable_memory_bytes, facts.available_memory_bytes);
  if (usable < kMinMemoryBytes) {
    report.Add(Severity::kWarning, "memory", text,
               "Give the machine or the container more memory: models beside a framework need "
               "about 1 GiB");
  } else {
    report.Ok("memory", text);
  }
  const std::string pages = "transparent huge pages: " + facts.transparent_huge_pages +
                            "; reserved huge pages: " + std::to_string(facts.huge_pages);
  if (facts.transparent_huge_pages == "never") {
    report.Add(Severity::kNote, "memory", pages,
               "Large models may run faster after: echo madvise > "
               "/sys/kernel/mm/transparent_hugepage/enabled");
  } else if (!facts.transparent_huge_pages.empty()) {
    report.Ok("memory", pages);
  }
  if (!facts.has_shm) {
    report.Add(Severity::kWarning, "memory", "/dev/shm is missing or cannot be written",
               "Mount a tmpfs at /dev/shm: Python models and shared memory of clients need it");
    return;
  }
  const std::string shm =
      "/dev/shm has " + ByteText(facts.shm_bytes) + ", " + ByteText(facts.shm_free_bytes) + " free";
  if (facts.shm_free_bytes < kMinShmBytes) {
    report.Add(Severity::kWarning, "memory", shm,
               "Give containers more with --shm-size=1g (Docker) or an emptyDir of medium Memory "
               "(Kubernetes): Python models and shared memory of clients need it");
  } else {
    report.Ok("memory", shm);
  }
}

std::string LimitText(const Limit& limit) { return limit ? std::to_string(*limit) : "no limit"; }

void JudgeLimits(const MachineFacts& facts, Report& report) {
  const std::string files = "open files: " + LimitText(facts.open_files);
  if (facts.open_files && *facts.open_files < kMinOpenFiles) {
    report.Add(Severity::kWarning, "limits", files,
               "Raise the hard limit to 65536 or more (LimitNOFILE= of the unit, or ulimit -Hn): "
               "each connection takes one");
  } else {
    report.Ok("limits", files);
  }
  Limit threads = facts.threads;
  if (facts.group_threads && (!threads || *facts.group_threads < *threads)) {
    threads = facts.group_threads;
  }
  if (threads && *threads < kMinThreads) {
    report.Add(Severity::kWarning, "limits", "threads: " + LimitText(threads),
               "Raise the limit to 4096 or more (TasksMax= of the unit, --pids-limit of the "
               "container): frameworks start many threads");
  } else {
    report.Ok("limits", "threads: " + LimitText(threads));
  }
  const std::string locked =
      "locked memory: " + (facts.locked_bytes ? ByteText(*facts.locked_bytes) : "no limit");
  if (!facts.gpus.empty() && facts.locked_bytes && *facts.locked_bytes < kMinLockedBytes) {
    report.Add(
        Severity::kNote, "limits", locked,
        "Raise the limit (LimitMEMLOCK=infinity of the unit) if libraries of GPUs report that "
        "memory cannot be locked");
  } else {
    report.Ok("limits", locked);
  }
}

void JudgeClock(const MachineFacts& facts, Report& report) {
  if (facts.clock_source == "hpet" || facts.clock_source == "acpi_pm" ||
      facts.clock_source == "jiffies") {
    report.Add(Severity::kWarning, "clock",
               "clock source: " + facts.clock_source + ", whose reading takes microseconds",
               "Boot with a clock source that needs no system call: tsc, or kvm-clock in a virtual "
               "machine");
  } else if (!facts.clock_source.empty()) {
    report.Ok("clock", "clock source: " + facts.clock_source);
  }
  if (!facts.clock_synchronized) return;
  if (*facts.clock_synchronized) {
    report.Ok("clock", "synchronized");
  } else {
    report.Add(Severity::kNote, "clock", "the kernel does not know the clock as synchronized",
               "Run an NTP client (apt install systemd-timesyncd) unless the host keeps the time: "
               "object stores refuse requests of a clock that is wrong by minutes");
  }
}

void JudgePorts(const MachineFacts& facts, Report& report) {
  for (const PortFacts& port : facts.ports) {
    const std::string text = "port " + std::to_string(port.port) + " (" + port.purpose + ")";
    if (port.problem.empty()) {
      report.Ok("ports", text + " is free");
    } else {
      report.Add(Severity::kError, "ports", text + ": " + port.problem,
                 "Stop the program that holds the port (ss -ltnp names it), or start the server "
                 "with another " +
                     port.flag);
    }
  }
}

/// Returns the reason on one line, for a report of lines.
std::string Reason(const std::string& text) { return TerminalText(text, 600); }

void JudgePlugins(const MachineFacts& facts, Report& report) {
  if (facts.plugin_directory.empty() || facts.plugins.empty()) {
    report.Add(Severity::kError, "backends",
               facts.plugin_directory.empty()
                   ? "no directory of backends was found"
                   : "no backend is in " + TerminalText(facts.plugin_directory),
               "Name the directory with --backend-directory, or build or install the backends");
    return;
  }
  for (const PluginFacts& plugin : facts.plugins) {
    const std::string name = TerminalText(plugin.name, 100);
    if (plugin.problem.empty()) {
      report.Ok("backends", name + " loads");
    } else {
      report.Add(Severity::kWarning, "backends", name + " does not load: " + Reason(plugin.problem),
                 plugin.has_framework_command
                     ? "Bring its framework: nereid-framework " + name
                     : "Install what is missing, if models of this backend are to be served");
    }
  }
}

void JudgeLibraries(const MachineFacts& facts, Report& report) {
  for (const LibraryFacts& library : facts.libraries) {
    if (library.is_there) {
      report.Ok("libraries", library.library + " is there");
    } else {
      report.Add(Severity::kNote, "libraries", library.library + " is missing: " + library.purpose,
                 "apt install " + library.package);
    }
  }
}

void JudgeGpus(const MachineFacts& facts, Report& report) {
  for (const device::Gpu& gpu : facts.gpus.used()) {
    report.Ok("gpus", "GPU " + std::to_string(gpu.ordinal) + ": " + TerminalText(gpu.name, 100) +
                          ", " + ByteText(gpu.memory));
  }
  for (const std::string& failure : facts.gpus.failures()) {
    report.Add(Severity::kError, "gpus", Reason(failure),
               "Look at the kernel's log (dmesg), and restart the machine if the GPU stays lost");
  }
  if (facts.gpus.none_because().empty()) return;
  if (facts.gpus.driver_failed()) {
    report.Add(Severity::kError, "gpus", Reason(facts.gpus.none_because()),
               "Reinstall the driver, or restart the machine if its version was changed");
  } else {
    report.Ok("gpus", "none: " + Reason(facts.gpus.none_because()));
  }
}

void JudgeRepositories(const MachineFacts& facts, Report& report) {
  for (const RepositoryFacts& repository : facts.repositories) {
    const std::string path = TerminalText(repository.path, 300);
    if (!repository.problem.empty()) {
      report.Add(Severity::kError, "repository", path + ": " + Reason(repository.problem),
                 "Name a directory that the server's user can read");
      continue;
    }
    const std::string& type = repository.file_system;
    const std::string text = path + ": " + (type.empty() ? "unknown file system" : type) + ", " +
                             ByteText(repository.free_bytes) + " free";
    const bool is_remote = type == "nfs" || type == "cifs" || type == "smb2" || type == "fuse" ||
                           type == "ceph" || type == "lustre" || type == "gpfs" || type == "9p" ||
                           type == "afs";
    if (is_remote) {
      report.Add(Severity::kNote, "repository", text,
                 "With --model-control-mode=poll set --repository-settle-secs: files on a network "
                 "appear before they are complete");
    } else if (repository.free_bytes < kMinFreeDiskBytes && type != "squashfs") {
      report.Add(Severity::kNote, "repository", text, "Free some space before models are copied");
    } else {
      report.Ok("repository", text);
    }
  }
}

std::string Colored(Severity severity, const std::string& text, bool color) {
  if (!color) return text;
  const char* const code = severity == Severity::kError     ? "31"
                           : severity == Severity::kWarning ? "33"
                           : severity == Severity::kNote    ? "36"
                                                            : "32";
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

}  // namespace

std::vector<DoctorFinding> Diagnose(const MachineFacts& facts) {
  Report report;
  JudgeCpu(facts, report);
  JudgeMemory(facts, report);
  JudgeLimits(facts, report);
  JudgeClock(facts, report);
  JudgePorts(facts, report);
  JudgePlugins(facts, report);
  JudgeLibraries(facts, report);
  JudgeGpus(facts, report);
  JudgeRepositories(facts, report);
  return report.Take();
}

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kOk:
      return "ok";
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

std::string FindingsText(const std::vector<DoctorFinding>& findings, bool color) {
  constexpr size_t kSeverityWidth = 9, kAreaWidth = 12;
  std::string text;
  size_t counts[4] = {};
  for (const DoctorFinding& finding : findings) {
    ++counts[static_cast<size_t>(finding.severity)];
    const std::string name(SeverityName(finding.severity));
    text += Colored(finding.severity, name, color);
    text.append(kSeverityWidth - name.size(), ' ');
    text += finding.area;
    text.append(kAreaWidth - std::min(kAreaWidth - 1, finding.area.size()), ' ');
    text += finding.text + "\n";
    if (finding.remedy.empty()) continue;
    text.append(kSeverityWidth + kAreaWidth, ' ');
    text += "-> " + finding.remedy + "\n";
  }
  const auto count = [&](Severity severity, const char* noun) {
    const size_t n = counts[static_cast<size_t>(severity)];
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
  };
  return text + "\n" + count(Severity::kError, "error") + ", " +
         count(Severity::kWarning, "warning") + ", " + count(Severity::kNote, "note") + "\n";
}

std::string FindingsJson(const std::vector<DoctorFinding>& findings) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginArray();
  for (const DoctorFinding& finding : findings) {
    json.NewLine().BeginObject().Key("severity").String(SeverityName(finding.severity));
    WriteMember("area", finding.area, &json);
    WriteMember("text", finding.text, &json);
    WriteMember("remedy", finding.remedy, &json);
    json.EndObject();
  }
  json.NewLine().EndArray();
  return text + "\n";
}

}  // namespace nereid::app::tools
