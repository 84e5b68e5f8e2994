# SPDX-License-Identifier: Apache-2.0
# Plug-ins of every kind: backends, caches, repository agents. Of the engine they use only the C
# headers; the loader resolves its functions when a plug-in is opened. Of the sources of the engine
# they may use the folder base, whose code is linked into each of them (tools/check_layers.py).

# Plug-ins link an empty library with the engine's name that defines the functions of the C API. A
# plug-in therefore builds without the engine, and a call of a function that the API does not have
# is a link error.
file(STRINGS "${CMAKE_SOURCE_DIR}/src/abi/exports.txt" exports REGEX "^TRITON")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${CMAKE_SOURCE_DIR}/src/abi/exports.txt")
set(stub "/* Generated. */\n")
foreach(function IN LISTS exports)
  string(APPEND stub "__attribute__((visibility(\"default\"))) void ${function}(void) {}\n")
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/stub/tritonserver_stub.c" CONTENT "${stub}" @ONLY)
add_library(tritonserver_stub SHARED "${CMAKE_BINARY_DIR}/stub/tritonserver_stub.c")
set_target_properties(tritonserver_stub PROPERTIES
  OUTPUT_NAME tritonserver
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/stub"
  C_COMPILER_LAUNCHER "")

# nereid_plugin(KIND NAME LIBRARY DIRECTORY SOURCES ... [LIBS ...] [MAP FILE])
# Adds the plug-in LIBRARY_NAME in DIRECTORY, which exports the names in the version script MAP
# (default: KINDs/plugin.map), and its objects as the target KIND_NAME for tests, which link them
# without a server. `cmake --install --component KIND_NAME` installs it below lib/nereid/KINDs.
function(nereid_plugin kind name library directory)
  cmake_parse_arguments(ARG "" "MAP" "SOURCES;LIBS" ${ARGN})
  set(folder "${CMAKE_SOURCE_DIR}/${kind}s")
  if(NOT ARG_MAP)
    set(ARG_MAP "${folder}/plugin.map")
  endif()
  add_library(${kind}_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(${kind}_${name} PUBLIC "${folder}")
  target_link_libraries(${kind}_${name} PUBLIC nereid_c_headers nereid_device nereid_base ${ARG_LIBS})
  add_library(${library}_${name} MODULE)
  set_target_properties(${library}_${name} PROPERTIES
    PREFIX lib
    LIBRARY_OUTPUT_DIRECTORY "${directory}"
    SKIP_BUILD_RPATH ON
    LINK_DEPENDS "${ARG_MAP}")
  target_link_libraries(${library}_${name} PRIVATE ${kind}_${name} tritonserver_stub)
  target_link_options(${library}_${name} PRIVATE
    "-Wl,--version-script=${ARG_MAP}" -Wl,--gc-sections)
  if(NOT NEREID_SANITIZE)
    target_link_options(${library}_${name} PRIVATE -Wl,-z,defs)
  endif()
  # Plug-ins of tests and examples are not installed: they are elsewhere.
  cmake_path(IS_PREFIX folder "${CMAKE_CURRENT_SOURCE_DIR}" is_product)
  if(is_product AND directory STREQUAL "${CMAKE_BINARY_DIR}/${kind}s/${name}")
    install(TARGETS ${library}_${name} LIBRARY DESTINATION lib/nereid/${kind}s/${name}
      COMPONENT ${kind}_${name})
  endif()
endfunction()
