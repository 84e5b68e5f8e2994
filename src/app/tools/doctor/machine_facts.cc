// SPDX-License-Identifier: Apache-2.0
#include "app/tools/doctor/machine_facts.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/cpus.h"
#include "base/files.h"
#include "base/parse_number.h"
#include "base/usable_memory.h"

namespace nereid::app::tools {
namespace {

constexpr size_t kMaxFileBytes = 1 << 20;

/// Reads a file of /proc or /sys, whose size is not known before; "" if it cannot be read.
std::string KernelFile(const std::string& path) {
  std::ifstream file(path);
  std::string text(kMaxFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

Limit LimitOf(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_max;
}

/// Returns "12345 kB" as bytes.
uint64_t KilobytesOf(const std::string& text) {
  return base::ParseWhole<uint64_t>(text.substr(0, text.find(' '))).value_or(0) * 1024;
}

void ReadCpu(MachineFacts* facts) {
  utsname name{};
  if (uname(&name) == 0) {
    facts->kernel = std::string(name.sysname) + " " + name.release;
    facts->architecture = name.machine;
  }
  const std::string info = KernelFile("/proc/cpuinfo");
  facts->cpu_model = ProcValue(info, "model name");
  std::istringstream flags(ProcValue(info, "flags"));
  for (std::string flag; flags >> flag;) facts->cpu_flags.push_back(flag);
  facts->cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  facts->permitted_cpus = base::AvailableCpuCount();
  facts->cpu_quota = base::CpuQuota();
}

void ReadMemory(MachineFacts* facts) {
  const std::string info = KernelFile("/proc/meminfo");
  facts->memory_bytes = KilobytesOf(ProcValue(info, "MemTotal"));
  facts->available_memory_bytes = KilobytesOf(ProcValue(info, "MemAvailable"));
  facts->usable_memory_bytes = base::UsableMemoryBytes();
  facts->huge_pages = base::ParseWhole<uint64_t>(ProcValue(info, "HugePages_Total")).value_or(0);
  facts->transparent_huge_pages =
      BracketedWord(KernelFile("/sys/kernel/mm/transparent_hugepage/enabled"));
  struct statfs shm {};
  facts->has_shm = statfs("/dev/shm", &shm) == 0 && access("/dev/shm", W_OK) == 0;
  if (!facts->has_shm) return;
  facts->shm_bytes = static_cast<uint64_t>(shm.f_blocks) * static_cast<uint64_t>(shm.f_bsize);
  facts->shm_free_bytes = static_cast<uint64_t>(shm.f_bavail) * static_cast<uint64_t>(shm.f_bsize);
}

void ReadLimits(MachineFacts* facts) {
  facts->open_files = LimitOf(RLIMIT_NOFILE);
  facts->threads = LimitOf(RLIMIT_NPROC);
  facts->locked_bytes = LimitOf(RLIMIT_MEMLOCK);
  for (const char* path : {"/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"}) {
    const auto most = base::ParseWhole<uint64_t>(KernelFile(path));
    if (most) facts->group_threads = *most;
  }
}

void ReadClock(MachineFacts* facts) {
  facts->clock_source =
      KernelFile("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  timex state{};
  const int code = adjtimex(&state);
  if (code >= 0) facts->clock_synchronized = code != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
}

std::string PortProblem(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::strerror(errno);
  const int on = 1;
  // Without it, old connections of a server that has ended would look like a server.
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  std::string problem;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 || listen(fd, 1) != 0) {
    problem = errno == EADDRINUSE ? "another program listens there" : std::strerror(errno);
  }
  close(fd);
  return problem;
}

RepositoryFacts RepositoryOf(const std::string& path) {
  RepositoryFacts facts{path, "", "", 0};
  const auto names = base::ListSubdirectories(path);
  if (!names.ok()) {
    facts.problem = names.status().message();
    return facts;
  }
  struct statfs status {};
  if (statfs(path.c_str(), &status) != 0) return facts;
  facts.file_system = FileSystemName(static_cast<uint64_t>(status.f_type));
  facts.free_bytes = static_cast<uint64_t>(status.f_bavail) * static_cast<uint64_t>(status.f_bsize);
  return facts;
}

std::vector<LibraryFacts> Libraries() {
  std::vector<LibraryFacts> libraries = {
      {"libcurl.so.4", "libcurl4",
       "models in object stores, traces, and the tools that ask a server"},
      {"libpng16.so.16", "libpng16-16", "PNG pictures for nereid infer"},
      {"libturbojpeg.so.0", "libturbojpeg0", "JPEG pictures for nereid infer"}};
  for (LibraryFacts& library : libraries) {
    void* const handle = dlopen(library.library.c_str(), RTLD_LAZY | RTLD_LOCAL);
    library.is_there = handle != nullptr;
    if (handle != nullptr) dlclose(handle);
  }
  return libraries;
}

void ProbePlugins(const MachineQuestions& questions, MachineFacts* facts) {
  facts->plugin_directory = questions.plugin_directory;
  const auto names = base::ListSubdirectories(questions.plugin_directory);
  if (!names.ok() || !questions.probe) return;
  for (const std::string& name : *names) {
    const std::string file = questions.plugin_directory + "/" + name + "/libtriton_" + name + ".so";
    if (!base::PathExists(file)) continue;
    const base::Status loaded = questions.probe(questions.plugin_directory, name);
    const std::string framework = "/usr/share/nereid/frameworks/" + name;
    facts->plugins.push_back(
        {name, loaded.ok() ? "" : loaded.message(), base::PathExists(framework)});
  }
}

}  // namespace

std::string ProcValue(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == line.npos || !line.starts_with(name)) continue;
    if (line.find_first_not_of(" \t", name.size()) != colon) continue;
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == line.npos ? "" : line.substr(value);
  }
  return "";
}

std::string BracketedWord(const std::string& text) {
  const size_t begin = text.find('['), end = text.find(']');
  return begin == text.npos || end == text.npos || end < begin
             ? ""
             : text.substr(begin + 1, end - begin - 1);
}

std::string FileSystemName(uint64_t magic) {
  constexpr std::pair<uint64_t, const char*> kNames[] = {
      {0xef53, "ext4"},      {0x58465342, "xfs"},      {0x9123683e, "btrfs"},
      {0x01021994, "tmpfs"}, {0x794c7630, "overlay"},  {0x6969, "nfs"},
      {0xff534d42, "cifs"},  {0xfe534d42, "smb2"},     {0x65735546, "fuse"},
      {0x2fc12fc1, "zfs"},   {0x00c36400, "ceph"},     {0x0bd00bd0, "lustre"},
      {0x47504653, "gpfs"},  {0x73717368, "squashfs"}, {0x01021997, "9p"},
      {0x5346414f, "afs"}};
  for (const auto& [number, name] : kNames) {
    if (number == magic) return name;
  }
  return "";
}

MachineFacts GatherMachineFacts(const MachineQuestions& questions) {
  MachineFacts facts;
  ReadCpu(&facts);
  ReadMemory(&facts);
  ReadLimits(&facts);
  ReadClock(&facts);
  facts.ports = questions.ports;
  for (PortFacts& port : facts.ports) port.problem = PortProblem(port.port);
  ProbePlugins(questions, &facts);
  facts.libraries = Libraries();
  for (const std::string& path : questions.repositories) {
    facts.repositories.push_back(RepositoryOf(path));
  }
  if (questions.find_gpus) facts.gpus = questions.find_gpus(0);
  return facts;
}

}  // namespace nereid::app::tools
