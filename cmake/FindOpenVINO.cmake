# SPDX-License-Identifier: Apache-2.0
# OpenVINO: target OpenVINO::runtime, variables OpenVINO_FOUND, OpenVINO_LIBRARY_DIR.
# Looked for in build/frameworks/openvino, where tools/fetch_framework.sh puts it.
set(_openvino "${NEREID_FRAMEWORKS}/openvino/openvino")
find_path(OpenVINO_INCLUDE_DIR openvino/openvino.hpp
          PATHS "${_openvino}/include" NO_DEFAULT_PATH NO_CACHE)
file(GLOB _openvino_library "${_openvino}/libs/libopenvino.so.*")
set(OpenVINO_LIBRARY "")
if(_openvino_library)
  list(GET _openvino_library 0 OpenVINO_LIBRARY)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenVINO REQUIRED_VARS OpenVINO_LIBRARY OpenVINO_INCLUDE_DIR)
if(OpenVINO_FOUND AND NOT TARGET OpenVINO::runtime)
  get_filename_component(OpenVINO_LIBRARY_DIR "${OpenVINO_LIBRARY}" DIRECTORY)
  add_library(OpenVINO::runtime INTERFACE IMPORTED GLOBAL)
  target_include_directories(OpenVINO::runtime SYSTEM INTERFACE "${OpenVINO_INCLUDE_DIR}")
  target_compile_options(OpenVINO::runtime INTERFACE -fno-gnu-unique)
  target_link_libraries(OpenVINO::runtime INTERFACE "${OpenVINO_LIBRARY}")
endif()
