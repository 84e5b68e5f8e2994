# SPDX-License-Identifier: Apache-2.0
# `cmake --install build/release --component kit --prefix DIR`: what a project of its own needs to
# build a backend. See docs/developer/writing_a_backend.md.
# The lower-case names of the files are found by find_package(nereid) and by find_package(Nereid).
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/kit/nereid-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/" DESTINATION include COMPONENT kit
  FILES_MATCHING PATTERN "*.h")
install(FILES
  "${CMAKE_SOURCE_DIR}/cmake/kit/nereid-config.cmake"
  "${CMAKE_BINARY_DIR}/kit/nereid-config-version.cmake"
  "${CMAKE_SOURCE_DIR}/src/abi/exports.txt"
  "${CMAKE_SOURCE_DIR}/backends/plugin.map"
  DESTINATION lib/cmake/nereid COMPONENT kit)
