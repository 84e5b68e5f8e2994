# SPDX-License-Identifier: Apache-2.0
# LibTorch for the CPU: target LibTorch::cpu, variables LibTorch_FOUND, LibTorch_LIBRARY_DIR.
# Looked for in build/frameworks/pytorch, where tools/fetch_framework.sh puts it. Only torch_cpu and
# c10 are linked; the package's libraries for GPUs are not touched.
set(_torch "${NEREID_FRAMEWORKS}/pytorch/torch")
find_path(LibTorch_INCLUDE_DIR torch/script.h
          PATHS "${_torch}/include" NO_DEFAULT_PATH NO_CACHE)
find_path(LibTorch_LIBRARY_DIR libtorch_cpu.so PATHS "${_torch}/lib" NO_DEFAULT_PATH NO_CACHE)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_LIBRARY_DIR LibTorch_INCLUDE_DIR)
if(LibTorch_FOUND AND NOT TARGET LibTorch::cpu)
  add_library(LibTorch::cpu INTERFACE IMPORTED GLOBAL)
  target_include_directories(LibTorch::cpu SYSTEM INTERFACE "${LibTorch_INCLUDE_DIR}"
    "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include")
  target_compile_options(LibTorch::cpu INTERFACE -fno-gnu-unique)
  target_link_libraries(LibTorch::cpu INTERFACE "${LibTorch_LIBRARY_DIR}/libtorch_cpu.so"
                        "${LibTorch_LIBRARY_DIR}/libc10.so")
endif()
