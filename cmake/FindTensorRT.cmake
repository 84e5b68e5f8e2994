# SPDX-License-Identifier: Apache-2.0
# TensorRT's headers, with those of the CUDA runtime that they include: target TensorRT::headers,
# variables TensorRT_FOUND and TensorRT_VERSION. Looked for where the compiler looks, in
# build/frameworks/tensorrt, and in what TENSORRT_ROOT (the folder of an unpacked archive) and
# CUDA_ROOT name. The plug-in opens the library when it runs; a library that is found here only has
# to be of the version of the headers.
set(_tensorrt "${NEREID_FRAMEWORKS}/tensorrt")
set(_cuda "/usr/local/cuda")
find_path(TensorRT_INCLUDE_DIR NvInfer.h HINTS "${TENSORRT_ROOT}" "${_tensorrt}"
          PATH_SUFFIXES include NO_CACHE)
find_library(TensorRT_LIBRARY nvinfer HINTS "${TENSORRT_ROOT}" "${_tensorrt}" PATH_SUFFIXES lib
             NO_CACHE)
find_path(CUDA_INCLUDE_DIR cuda_runtime_api.h HINTS "${CUDA_ROOT}" "${_tensorrt}" "${_cuda}"
          PATH_SUFFIXES include NO_CACHE)

# Sets VALUE to the number that the macro has in the header. Some versions define it as another macro.
function(_tensorrt_number header macro value)
  set(${value} "" PARENT_SCOPE)
  string(REGEX MATCH "#define ${macro} +([A-Za-z0-9_]+)" _ "${header}")
  set(found "${CMAKE_MATCH_1}")
  if(found MATCHES "^[A-Z]")
    string(REGEX MATCH "#define ${found} +([0-9]+)" _ "${header}")
    set(found "${CMAKE_MATCH_1}")
  endif()
  set(${value} "${found}" PARENT_SCOPE)
endfunction()

unset(TensorRT_VERSION)
if(TensorRT_INCLUDE_DIR)
  set(_header "")
  foreach(_name NvInfer.h NvInferVersion.h)
    if(EXISTS "${TensorRT_INCLUDE_DIR}/${_name}")
      file(READ "${TensorRT_INCLUDE_DIR}/${_name}" _text)
      string(APPEND _header "${_text}")
    endif()
  endforeach()
  _tensorrt_number("${_header}" NV_TENSORRT_MAJOR _major)
  _tensorrt_number("${_header}" NV_TENSORRT_MINOR _minor)
  _tensorrt_number("${_header}" NV_TENSORRT_PATCH _patch)
  set(TensorRT_VERSION "${_major}.${_minor}.${_patch}")
  if(TensorRT_VERSION VERSION_LESS 8.6)
    message(FATAL_ERROR "The headers in ${TensorRT_INCLUDE_DIR} are of TensorRT ${TensorRT_VERSION}, "
                        "but 8.6 or newer is needed. Install a newer TensorRT, or name the folder of "
                        "another one with -DTENSORRT_ROOT=DIR.")
  endif()
endif()
if(TensorRT_INCLUDE_DIR AND TensorRT_LIBRARY)
  # libnvinfer.so is a link to a file whose name ends with the version.
  get_filename_component(_file "${TensorRT_LIBRARY}" REALPATH)
  if(_file MATCHES "\\.so\\.([0-9]+\\.[0-9]+\\.[0-9]+)" AND NOT CMAKE_MATCH_1 STREQUAL TensorRT_VERSION)
    message(FATAL_ERROR "The headers in ${TensorRT_INCLUDE_DIR} are of TensorRT ${TensorRT_VERSION}, "
                        "but the library ${_file} is of TensorRT ${CMAKE_MATCH_1}. Install both of one "
                        "version, or name the folder that has both with -DTENSORRT_ROOT=DIR.")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TensorRT REQUIRED_VARS TensorRT_INCLUDE_DIR CUDA_INCLUDE_DIR
                                  VERSION_VAR TensorRT_VERSION)
if(TensorRT_FOUND AND NOT TARGET TensorRT::headers)
  add_library(TensorRT::headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(TensorRT::headers SYSTEM INTERFACE "${TensorRT_INCLUDE_DIR}"
                             "${CUDA_INCLUDE_DIR}")
endif()
