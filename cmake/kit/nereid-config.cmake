# SPDX-License-Identifier: Apache-2.0
# The backend kit, as `cmake --install … --component kit` puts it: find_package(nereid), also
# spelled find_package(Nereid), gives
#
#   Nereid::backend_kit   the headers (triton/core, nereid/backend), as an interface target
#   nereid_add_backend(NAME SOURCES … [LIBS …])
#                         the plug-in libtriton_NAME.so, in NAME/ of the build folder: that build
#                         folder is a --backend-directory
#
# model_config.h and json.h need RapidJSON's headers (Debian: rapidjson-dev).
get_filename_component(NEREID_KIT_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET Nereid::backend_kit)
  add_library(Nereid::backend_kit INTERFACE IMPORTED)
  target_include_directories(Nereid::backend_kit INTERFACE "${NEREID_KIT_PREFIX}/include")
  target_compile_features(Nereid::backend_kit INTERFACE cxx_std_20)

  # What a plug-in links instead of the engine: an empty library of its name that defines the
  # functions of the C API. So a call to a function that the API lacks is a link error.
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/exports.txt" nereid_exports REGEX "^TRITON")
  set(nereid_stub "/* Generated. */\n")
  foreach(function IN LISTS nereid_exports)
    string(APPEND nereid_stub
           "__attribute__((visibility(\"default\"))) void ${function}(void) {}\n")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/nereid/tritonserver_stub.c" CONTENT "${nereid_stub}"
       @ONLY)
  add_library(nereid_tritonserver_stub SHARED "${CMAKE_BINARY_DIR}/nereid/tritonserver_stub.c")
  set_target_properties(nereid_tritonserver_stub PROPERTIES
    OUTPUT_NAME tritonserver
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/nereid")
endif()

set(NEREID_KIT_PLUGIN_MAP "${CMAKE_CURRENT_LIST_DIR}/plugin.map")

function(nereid_add_backend name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(triton_${name} MODULE ${ARG_SOURCES})
  set_target_properties(triton_${name} PROPERTIES
    PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${name}"
    SKIP_BUILD_RPATH ON
    LINK_DEPENDS "${NEREID_KIT_PLUGIN_MAP}")
  target_link_libraries(triton_${name} PRIVATE
    Nereid::backend_kit nereid_tritonserver_stub ${ARG_LIBS})
  target_link_options(triton_${name} PRIVATE
    "-Wl,--version-script=${NEREID_KIT_PLUGIN_MAP}" -Wl,-z,defs)
endfunction()
