// SPDX-License-Identifier: Apache-2.0
// The program `nereid` (also named `tritonserver`): opens the engine library and enters it.
//
// The program links only libc and opens the engine with RTLD_LOCAL. Otherwise the symbols of the
// engine's libraries would be global, and a plug-in's framework would bind to them instead of to
// its own. The engine exports exactly the C API, so the program enters it at its ELF entry point,
// as the kernel does with an executable.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>

namespace {

using ProgramEntry = int (*)(int argc, char** argv);

/// Returns an empty text if the system does not tell.
std::string ProgramDirectory() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  const std::string program(path, length > 0 ? static_cast<size_t>(length) : 0);
  return program.substr(0, program.rfind('/') + 1);
}

/// Opens the engine of a build folder or of an installation: <bin>/../lib or <bin>/../lib/nereid.
/// Returns null and sets `error` if that fails.
void* OpenEngine(std::string* error) {
  const std::string directory = ProgramDirectory();
  if (directory.empty()) {
    *error = "the program does not find its own directory, because /proc is not mounted";
    return nullptr;
  }
  for (const char* place : {"../lib/libtritonserver.so", "../lib/nereid/libtritonserver.so"}) {
    const std::string path = directory + place;
    if (::access(path.c_str(), F_OK) != 0) continue;
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    *error = dlerror();
    return nullptr;
  }
  *error =
      "libtritonserver.so is not in ../lib or ../lib/nereid, seen from the program's directory";
  return nullptr;
}

/// Returns the entry point that the engine's ELF header names, or null. The loader maps that header
/// at the load address of the library.
ProgramEntry FindEntry(void* engine) {
  link_map* map = nullptr;
  if (dlinfo(engine, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return nullptr;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(map->l_addr);
  if (header->e_entry == 0) return nullptr;
  return reinterpret_cast<ProgramEntry>(map->l_addr + header->e_entry);
}

}  // namespace

int main(int argc, char** argv) {
  std::string error;
  void* const engine = OpenEngine(&error);
  if (engine == nullptr) {
    std::fprintf(stderr, "error: the engine library cannot be opened: %s\n", error.c_str());
    return 1;
  }
  const ProgramEntry entry = FindEntry(engine);
  if (entry == nullptr) {
    std::fprintf(stderr, "error: the engine library has no entry point\n");
    return 1;
  }
  return entry(argc, argv);
}
