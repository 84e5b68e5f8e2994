# SPDX-License-Identifier: Apache-2.0
# Compiler settings shared by every target, and the functions that the folders' lists call.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(NEREID_CCACHE ccache)
if(NEREID_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER "${NEREID_CCACHE}")
  # Without the sloppiness ccache does not keep what was compiled with a precompiled header. With one
  # locale and the checkout as base, all builds of all checkouts share what was compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env --unset=LC_ALL --unset=LC_CTYPE --unset=LC_MESSAGES LANG=C.UTF-8
    CCACHE_SLOPPINESS=pch_defines,time_macros
    "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${NEREID_CCACHE}")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/unity.cmake")

find_program(NEREID_MOLD mold)
if(NEREID_MOLD)
  # mold links the engine in a tenth of the time that the default linker takes.
  add_link_options(-fuse-ld=mold)
endif()

find_package(Threads REQUIRED)

# Plug-ins share a process with other people's libraries: a "unique" symbol would bind across
# RTLD_LOCAL, and would keep the library from ever being unloaded. GCC alone has the option.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
endif()
# GCC 12 sees overlaps and overflows in `"text" + std::string` and `string = "text"` that are not there.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  foreach(warning IN ITEMS restrict stringop-overflow stringop-overread array-bounds)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-${warning}>)
  endforeach()
endif()
# Continuous integration sets this; a user's newer compiler may know warnings that ours does not.
option(NEREID_WERROR "Treat the compiler's warnings as errors" "$ENV{NEREID_WERROR}")
set(CMAKE_COMPILE_WARNING_AS_ERROR "${NEREID_WERROR}")
add_compile_options(-Wall -Wextra -ffunction-sections -fdata-sections -fno-omit-frame-pointer)

if(NEREID_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
elseif(NEREID_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
elseif(NEREID_SANITIZE)
  message(FATAL_ERROR "NEREID_SANITIZE is '${NEREID_SANITIZE}'; use '', 'address' or 'thread'")
endif()

# Continuous integration builds and runs the unit tests once, with sanitizers, and sets this to OFF for
# its optimized build, whose tests are those of the whole server.
set(build_unit_tests ON)
if(DEFINED ENV{NEREID_BUILD_UNIT_TESTS})
  set(build_unit_tests "$ENV{NEREID_BUILD_UNIT_TESTS}")
endif()
option(NEREID_BUILD_UNIT_TESTS "Build the unit tests beside the sources" "${build_unit_tests}")

if(NEREID_BUILD_TESTS)
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(STATUS "GoogleTest is not installed: there will be no tests")
    set(NEREID_BUILD_TESTS OFF)
  endif()
endif()
if(NEREID_BUILD_BENCH)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    message(STATUS "Google Benchmark is not installed: there will be no micro-benchmarks")
  endif()
endif()

# The precompiled header of all components: reading the standard library takes half of the time of
# compiling a source. Each source includes what it uses all the same: tools/lint.sh reads the sources
# without this header. GCC alone: clang would have to be told of its own form of the file.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/headers.cc" CONTENT "\n")
  add_library(nereid_headers STATIC "${CMAKE_BINARY_DIR}/headers.cc")
  target_compile_options(nereid_headers PRIVATE -fpch-preprocess)
  target_precompile_headers(nereid_headers PRIVATE
    <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <deque> <functional> <map> <memory>
    <mutex> <optional> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
endif()

# nereid_component(NAME SOURCES ... [DEPS ...] [LIBS ...])
# One folder of src/: the static library nereid_NAME. DEPS are other components (they must stand on
# lower layers, see tools/check_layers.py), LIBS are targets from outside the project.
function(nereid_component name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  set(target nereid_${name})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    nereid_compile_together_(${target} ${ARG_SOURCES})
    set(scope PUBLIC)
    if(TARGET nereid_headers)
      target_compile_options(${target} PRIVATE -fpch-preprocess)
      target_precompile_headers(${target} REUSE_FROM nereid_headers)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} "${CMAKE_SOURCE_DIR}/src")
  foreach(dep IN LISTS ARG_DEPS)
    target_link_libraries(${target} ${scope} nereid_${dep})
  endforeach()
  target_link_libraries(${target} ${scope} Threads::Threads ${ARG_LIBS})
endfunction()

# nereid_program_(TARGET SOURCES ... [DEPS ...] [LIBS ...])
# An executable for the functions below; the arguments mean what they mean there.
function(nereid_program_ target)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${target} ${ARG_SOURCES})
  nereid_compile_together_(${target} ${ARG_SOURCES})
  list(TRANSFORM ARG_DEPS PREPEND nereid_)
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} ${ARG_LIBS})
endfunction()

# The precompiled header of all tests. Reading GoogleTest and the standard library takes most of the
# time of compiling a test. GCC alone: clang would have to be told of its own form of the file.
if(NEREID_BUILD_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_headers.cc" CONTENT "int main() {}\n")
  # A program, as the tests are: position-independent code of a library would not fit them.
  add_executable(nereid_test_headers "${CMAKE_BINARY_DIR}/test_headers.cc")
  target_link_libraries(nereid_test_headers PRIVATE GTest::gmock GTest::gtest)
  target_compile_options(nereid_test_headers PRIVATE -O0 -fpch-preprocess)
  target_precompile_headers(nereid_test_headers PRIVATE
    <gmock/gmock.h> <gtest/gtest.h>
    <atomic> <chrono> <filesystem> <fstream> <functional> <future> <map> <memory> <random> <set>
    <sstream> <string> <thread> <vector>)
endif()

# nereid_test(NAME SOURCES ... [DEPS ...] [LIBS ...])
# A GoogleTest program NAME_test, registered with CTest under that name.
function(nereid_test name)
  if(NOT NEREID_BUILD_TESTS OR NOT NEREID_BUILD_UNIT_TESTS)
    return()
  endif()
  set(target ${name}_test)
  nereid_program_(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest GTest::gtest_main)
  # Optimizing a test takes as long as everything else about compiling it, and twice as long with a
  # sanitizer; what is tested is optimized as in the product.
  target_compile_options(${target} PRIVATE -O0)
  if(TARGET nereid_test_headers)
    target_compile_options(${target} PRIVATE -fpch-preprocess)
    target_precompile_headers(${target} REUSE_FROM nereid_test_headers)
  endif()
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES
    ENVIRONMENT "NEREID_SOURCE_DIR=${CMAKE_SOURCE_DIR};NEREID_BUILD_DIR=${CMAKE_BINARY_DIR}"
    TIMEOUT 300)
endfunction()

# nereid_test_uses_fake_gpus(TARGET)
# Makes a test program find the fake CUDA driver of tests/fake_gpu where it opens libcuda.so.1.
function(nereid_test_uses_fake_gpus target)
  if(NOT TARGET ${target})
    return()
  endif()
  # For the headers of tests/fake_gpu.
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}")
  set_property(TARGET ${target} APPEND PROPERTY BUILD_RPATH "${CMAKE_BINARY_DIR}/fake_gpu")
  # RUNPATH would not do: with AddressSanitizer it is not this program that calls dlopen.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  add_dependencies(${target} nereid_fake_cuda nereid_fake_nvml)
endfunction()

# nereid_bench(NAME SOURCES ... [DEPS ...] [LIBS ...])
# A Google Benchmark program NAME_bench. CTest runs each benchmark for a few iterations, as a smoke test
# with the label "bench"; figures come from running the program itself on a quiet machine.
function(nereid_bench name)
  if(NOT NEREID_BUILD_BENCH OR NOT benchmark_FOUND)
    return()
  endif()
  set(target ${name}_bench)
  nereid_program_(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE benchmark::benchmark_main)
  if(NEREID_BUILD_TESTS)
    add_test(NAME ${target} COMMAND ${target} --benchmark_min_time=0.000001)
    set_tests_properties(${target} PROPERTIES LABELS bench TIMEOUT 60)
  endif()
endfunction()

# nereid_fuzzer(NAME SOURCES ... [DEPS ...] [LIBS ...])
# A libFuzzer program NAME_fuzzer, in builds that have NEREID_BUILD_FUZZERS.
function(nereid_fuzzer name)
  if(NOT NEREID_BUILD_FUZZERS)
    return()
  endif()
  set(target ${name}_fuzzer)
  nereid_program_(${target} ${ARGN})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
endfunction()

if(NEREID_BUILD_FUZZERS)
  # All code is instrumented for coverage, which guides the fuzzers.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(NEREID_BUILD_TESTS)
  enable_testing()
endif()
