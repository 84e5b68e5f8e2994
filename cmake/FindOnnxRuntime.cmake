# SPDX-License-Identifier: Apache-2.0
# The C headers of ONNX Runtime: target OnnxRuntime::headers, variable OnnxRuntime_FOUND.
# Looked for in the build folder, where tools/fetch_onnxruntime.sh puts them, then in the system.
# Where they are in neither and NEREID_FETCH_ONNXRUNTIME is on, the script is run. The library is
# not linked: the backend opens it at run time.

option(NEREID_FETCH_ONNXRUNTIME "Fetch what the ONNX Runtime backend needs (apt and pip)" ON)

set(_onnxruntime_fetched "${CMAKE_BINARY_DIR}/third_party/onnxruntime/include")
if(NEREID_FETCH_ONNXRUNTIME AND
   NOT (EXISTS "${_onnxruntime_fetched}/onnxruntime_c_api.h" AND
        EXISTS "${CMAKE_BINARY_DIR}/backends/onnxruntime/libonnxruntime.so.1"))
  execute_process(COMMAND "${CMAKE_SOURCE_DIR}/tools/fetch_onnxruntime.sh" "${CMAKE_BINARY_DIR}"
                  RESULT_VARIABLE _onnxruntime_result)
  if(NOT _onnxruntime_result EQUAL 0)
    message(WARNING "tools/fetch_onnxruntime.sh failed; what it says stands above")
  endif()
endif()

find_path(OnnxRuntime_INCLUDE_DIR onnxruntime_c_api.h
          HINTS "${_onnxruntime_fetched}" PATH_SUFFIXES onnxruntime NO_CACHE)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OnnxRuntime REQUIRED_VARS OnnxRuntime_INCLUDE_DIR)
if(OnnxRuntime_FOUND AND NOT TARGET OnnxRuntime::headers)
  add_library(OnnxRuntime::headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(OnnxRuntime::headers SYSTEM INTERFACE "${OnnxRuntime_INCLUDE_DIR}")
endif()
