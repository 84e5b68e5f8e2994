# SPDX-License-Identifier: Apache-2.0
# TensorRT and the CUDA runtime: target TensorRT::nvinfer, variable TensorRT_FOUND. Looked for where
# the compiler looks, in build/frameworks/tensorrt, and in what TENSORRT_ROOT (the folder of an
# unpacked archive) and CUDA_ROOT name.
set(_tensorrt "${NEREID_FRAMEWORKS}/tensorrt")
set(_cuda "/usr/local/cuda")
find_path(TensorRT_INCLUDE_DIR NvInfer.h HINTS "${TENSORRT_ROOT}" "${_tensorrt}"
          PATH_SUFFIXES include NO_CACHE)
find_library(TensorRT_LIBRARY nvinfer HINTS "${TENSORRT_ROOT}" "${_tensorrt}" PATH_SUFFIXES lib
             NO_CACHE)
find_library(TensorRT_PLUGIN_LIBRARY nvinfer_plugin HINTS "${TENSORRT_ROOT}" "${_tensorrt}"
             PATH_SUFFIXES lib NO_CACHE)
find_path(CUDA_INCLUDE_DIR cuda_runtime_api.h HINTS "${CUDA_ROOT}" "${_tensorrt}" "${_cuda}"
          PATH_SUFFIXES include NO_CACHE)
find_library(CUDA_RUNTIME_LIBRARY cudart HINTS "${CUDA_ROOT}" "${_tensorrt}" "${_cuda}"
             PATH_SUFFIXES lib64 lib NO_CACHE)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TensorRT REQUIRED_VARS TensorRT_LIBRARY TensorRT_PLUGIN_LIBRARY
  TensorRT_INCLUDE_DIR CUDA_INCLUDE_DIR CUDA_RUNTIME_LIBRARY)
if(TensorRT_FOUND AND NOT TARGET TensorRT::nvinfer)
  add_library(TensorRT::nvinfer INTERFACE IMPORTED GLOBAL)
  target_include_directories(TensorRT::nvinfer SYSTEM INTERFACE "${TensorRT_INCLUDE_DIR}"
                             "${CUDA_INCLUDE_DIR}")
  target_link_libraries(TensorRT::nvinfer INTERFACE "${TensorRT_LIBRARY}"
                        "${TensorRT_PLUGIN_LIBRARY}" "${CUDA_RUNTIME_LIBRARY}")
endif()
