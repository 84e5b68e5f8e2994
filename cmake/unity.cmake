# SPDX-License-Identifier: Apache-2.0
# Compiles the sources of a target several at a time. A whole build takes little more than half of the
# time then, but a change of one source compiles all that are with it.
# tools/lint.sh reads each source alone, so a missing include is found all the same.
#
# CMake's own unity builds (UNITY_BUILD) name the sources by absolute paths, so a compiler cache would
# serve one folder only. The files that are written here name them by relative paths.
option(NEREID_UNITY "Compile sources several at a time: whole builds are faster" "$ENV{NEREID_UNITY}")
if(NEREID_UNITY)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# nereid_compile_together_(TARGET SOURCE...)
# Does nothing without NEREID_UNITY. A source with the property SKIP_UNITY_BUILD_INCLUSION or with own
# definitions, or with names that another one declares too, is compiled alone.
function(nereid_compile_together_ target)
  if(NOT NEREID_UNITY)
    return()
  endif()
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/unity_alone.py" ${ARGN}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    OUTPUT_VARIABLE alone OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" alone "${alone}")
  set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # A class of a source counts as one of a header, which must not have members of unnamed namespaces.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  nereid_group_sources_(${target} 8 "")
endfunction()

# nereid_group_sources_(TARGET SIZE BEHIND_EACH)
# Replaces the sources of a target by files that include up to SIZE of them, each followed by the text
# BEHIND_EACH. Waits for the end of the folder's list, because the list may set properties of sources
# after it has made the target.
function(nereid_group_sources_ target size behind_each)
  cmake_language(EVAL CODE
    "cmake_language(DEFER CALL nereid_group_sources_now_ [[${target}]] [[${size}]] [[${behind_each}]])")
endfunction()

function(nereid_group_sources_now_ target size behind_each)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/unity/${target}")
  get_target_property(sources ${target} SOURCES)
  set(alone "")
  set(groups "")
  set(count 0)
  foreach(source IN LISTS sources)
    get_source_file_property(skip "${source}" SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
    if(skip OR definitions OR NOT source MATCHES "\\.cc$")
      list(APPEND alone "${source}")
      continue()
    endif()
    math(EXPR group "${count} / ${size}")
    math(EXPR count "${count} + 1")
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${folder}")
    string(APPEND text_${group} "#include \"${source}\"\n${behind_each}")
    set(file "${folder}/unity_${group}.cc")
    if(NOT file IN_LIST groups)
      list(APPEND groups "${file}")
    endif()
  endforeach()
  set(group 0)
  foreach(file IN LISTS groups)
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text_${group}}" @ONLY)
    math(EXPR group "${group} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${alone};${groups}")
endfunction()
