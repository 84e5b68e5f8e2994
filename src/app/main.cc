// SPDX-License-Identifier: Apache-2.0
// The program `nereid` (also named `tritonserver`): opens the engine library and enters it.
//
// The program itself links nothing but libc, and the engine is opened RTLD_LOCAL, so that no symbol
// of the engine's own libraries can stand in for one that a plug-in's framework brings. The engine
// exports exactly the C API; its program is reached through its ELF entry point, as running libc.so
// does.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>

namespace {

using ProgramEntry = int (*)(int argc, char** argv);

std::string ProgramDirectory() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  std::string program(path, length > 0 ? static_cast<size_t>(length) : 0);
  const size_t slash = program.rfind('/');
  return slash == std::string::npos ? "." : program.substr(0, slash);
}

/// The engine of a build folder or an installation: <bin>/../lib or <bin>/../lib/nereid.
void* OpenEngine(std::string* error) {
  for (const char* place : {"/../lib/libtritonserver.so", "/../lib/nereid/libtritonserver.so"}) {
    const std::string path = ProgramDirectory() + place;
    if (::access(path.c_str(), F_OK) != 0) continue;
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    *error = dlerror();
    return nullptr;
  }
  *error = "no libtritonserver.so beside the program, in ../lib or ../lib/nereid";
  return nullptr;
}

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
    std::fprintf(stderr, "error: the engine library has no program in it\n");
    return 1;
  }
  return entry(argc, argv);
}
