# SPDX-License-Identifier: Apache-2.0
# TensorFlow's C API: target TensorFlow::c, variables TensorFlow_FOUND, TensorFlow_LIBRARY_DIR.
# Looked for in build/frameworks/tensorflow, where tools/fetch_framework.sh puts it.
set(_tensorflow "${NEREID_FRAMEWORKS}/tensorflow/tensorflow")
find_path(TensorFlow_INCLUDE_DIR tensorflow/c/c_api.h
          PATHS "${_tensorflow}/include" NO_DEFAULT_PATH NO_CACHE)
find_path(TensorFlow_LIBRARY_DIR libtensorflow_cc.so.2
          PATHS "${_tensorflow}" NO_DEFAULT_PATH NO_CACHE)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(TensorFlow
  REQUIRED_VARS TensorFlow_LIBRARY_DIR TensorFlow_INCLUDE_DIR)
if(TensorFlow_FOUND AND NOT TARGET TensorFlow::c)
  add_library(TensorFlow::c INTERFACE IMPORTED GLOBAL)
  target_include_directories(TensorFlow::c SYSTEM INTERFACE "${TensorFlow_INCLUDE_DIR}")
  target_link_libraries(TensorFlow::c INTERFACE
    "${TensorFlow_LIBRARY_DIR}/libtensorflow_cc.so.2"
    "${TensorFlow_LIBRARY_DIR}/libtensorflow_framework.so.2")
endif()
