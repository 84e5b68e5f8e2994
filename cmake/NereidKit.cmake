# SPDX-License-Identifier: Apache-2.0
# `cmake --install build/release --component kit --prefix DIR`: what a project of its own needs to
# build a backend. See docs/developer/writing_a_backend.md.
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/kit/NereidConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/" DESTINATION include COMPONENT kit
  FILES_MATCHING PATTERN "*.h")
install(FILES
  "${CMAKE_SOURCE_DIR}/cmake/kit/NereidConfig.cmake"
  "${CMAKE_BINARY_DIR}/kit/NereidConfigVersion.cmake"
  "${CMAKE_SOURCE_DIR}/src/abi/exports.txt"
  "${CMAKE_SOURCE_DIR}/backends/plugin.map"
  DESTINATION lib/cmake/Nereid COMPONENT kit)
