# SPDX-License-Identifier: Apache-2.0
# Compiles the sources of a target several at a time. A whole build takes little more than half of the
# time then, but a change of one source compiles all that are with it.
# tools/lint.sh reads each source alone, so a missing include is found all the same.
option(NEREID_UNITY "Compile sources several at a time: whole builds are faster" "$ENV{NEREID_UNITY}")

# nereid_compile_together_(TARGET SOURCE...)
# Does nothing without NEREID_UNITY. A source with the property SKIP_UNITY_BUILD_INCLUSION, or with names
# that another one declares too, is compiled alone.
function(nereid_compile_together_ target)
  if(NOT NEREID_UNITY)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/cmake/unity_alone.py" ${ARGN}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    OUTPUT_VARIABLE alone OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" alone "${alone}")
  set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  # A class of a source counts as one of a header, which must not have members of unnamed namespaces.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()
