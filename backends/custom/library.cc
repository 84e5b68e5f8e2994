// SPDX-License-Identifier: Apache-2.0
#include "custom/library.h"

#include <dlfcn.h>

#include "custom/elf_file.h"

namespace nereid::custom {

Error CustomLibrary::Open(const std::string& owner, const std::string& path,
                          std::shared_ptr<const CustomLibrary>* library) {
  if (const std::string fault = ElfFault(path); !fault.empty()) {
    return Error::InvalidArgument(owner + ": cannot open the custom library '" + path +
                                  "': " + fault);
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return Error::InvalidArgument(owner + ": cannot open the custom library '" + path +
                                  "': " + (reason == nullptr ? "unknown reason" : reason));
  }
  std::shared_ptr<CustomLibrary> opened(new CustomLibrary(handle, path));
  NEREID_BACKEND_TRY(opened->FindFunctions(owner));
  *library = std::move(opened);
  return {};
}

CustomLibrary::~CustomLibrary() { dlclose(handle_); }

Error CustomLibrary::FindFunctions(const std::string& owner) {
  const auto find = [&](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(handle_, name));
    return *function != nullptr;
  };
  const auto require = [&](const char* name, auto* function) -> Error {
    if (find(name, function)) {
      return {};
    }
    return Error::InvalidArgument(owner + ": the custom library '" + path_ +
                                  "' lacks the function " + name);
  };
  CustomVersionFn_t version = nullptr;
  if (find("CustomVersion", &version)) {
    functions_.version = version();
  }
  if (functions_.version != 1 && functions_.version != 2) {
    return Error::Unsupported(owner + ": CustomVersion of the custom library '" + path_ +
                              "' gives " + std::to_string(functions_.version) +
                              ", but only versions 1 and 2 are known");
  }
  NEREID_BACKEND_TRY(require("CustomInitialize", &functions_.initialize));
  NEREID_BACKEND_TRY(require("CustomFinalize", &functions_.finalize));
  NEREID_BACKEND_TRY(require("CustomErrorString", &functions_.error_string));
  if (functions_.version == 2) {
    return require("CustomExecuteV2", &functions_.execute_v2);
  }
  return require("CustomExecute", &functions_.execute);
}

}  // namespace nereid::custom
