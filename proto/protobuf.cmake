# SPDX-License-Identifier: Apache-2.0
# The target nereid_protobuf: protobuf's C++ runtime as a static library of position-independent
# code with hidden symbols. The engine shares a process with frameworks that bring a protobuf of
# their own, so it may neither link the shared library nor show the symbols; and the archive of
# Debian's libprotobuf-dev cannot be linked into a shared library.
set(protobuf_dir "${CMAKE_BINARY_DIR}/third_party/protobuf")
if(NOT EXISTS "${protobuf_dir}/src/google/protobuf/message.cc")
  execute_process(COMMAND "${CMAKE_SOURCE_DIR}/tools/fetch_protobuf.sh" "${CMAKE_BINARY_DIR}"
                  RESULT_VARIABLE protobuf_result)
  if(NOT protobuf_result EQUAL 0)
    message(FATAL_ERROR "tools/fetch_protobuf.sh failed; what it says stands above")
  endif()
endif()

# The generated code asks for exactly the version of the compiler that wrote it.
find_program(NEREID_PROTOC protoc REQUIRED)
execute_process(COMMAND "${NEREID_PROTOC}" --version OUTPUT_VARIABLE protoc_version)
string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" protoc_version "${protoc_version}")
file(STRINGS "${protobuf_dir}/src/google/protobuf/stubs/common.h" version_line
     REGEX "^#define GOOGLE_PROTOBUF_VERSION [0-9]+")
# 3021012 is 3.21.12.
string(REGEX MATCH "[0-9]+$" version_number "${version_line}")
math(EXPR version_major "${version_number} / 1000000")
math(EXPR version_minor "${version_number} / 1000 % 1000")
math(EXPR version_patch "${version_number} % 1000")
set(source_version "${version_major}.${version_minor}.${version_patch}")
if(NOT source_version STREQUAL protoc_version)
  message(FATAL_ERROR "${NEREID_PROTOC} is version ${protoc_version}, the sources in "
    "${protobuf_dir} are ${source_version}: install Debian's protobuf-compiler, or remove the "
    "folder and run tools/fetch_protobuf.sh with an archive of ${protoc_version}")
endif()

# The runtime without the compiler's parser.
set(protobuf_sources
  any.cc any.pb.cc any_lite.cc api.pb.cc arena.cc arenastring.cc arenaz_sampler.cc descriptor.cc
  descriptor.pb.cc descriptor_database.cc duration.pb.cc dynamic_message.cc empty.pb.cc
  extension_set.cc extension_set_heavy.cc field_mask.pb.cc generated_enum_util.cc
  generated_message_bases.cc generated_message_reflection.cc generated_message_tctable_full.cc
  generated_message_tctable_lite.cc generated_message_util.cc implicit_weak_message.cc
  inlined_string_field.cc io/coded_stream.cc io/gzip_stream.cc io/printer.cc io/strtod.cc
  io/tokenizer.cc io/zero_copy_stream.cc io/zero_copy_stream_impl.cc
  io/zero_copy_stream_impl_lite.cc map.cc map_field.cc message.cc message_lite.cc parse_context.cc
  reflection_ops.cc repeated_field.cc repeated_ptr_field.cc service.cc source_context.pb.cc
  struct.pb.cc stubs/bytestream.cc stubs/common.cc stubs/int128.cc stubs/status.cc
  stubs/statusor.cc stubs/stringpiece.cc stubs/stringprintf.cc stubs/structurally_valid.cc
  stubs/strutil.cc stubs/substitute.cc stubs/time.cc text_format.cc timestamp.pb.cc type.pb.cc
  unknown_field_set.cc util/delimited_message_util.cc util/field_comparator.cc
  util/field_mask_util.cc util/internal/datapiece.cc util/internal/default_value_objectwriter.cc
  util/internal/error_listener.cc util/internal/field_mask_utility.cc
  util/internal/json_escaping.cc util/internal/json_objectwriter.cc
  util/internal/json_stream_parser.cc util/internal/object_writer.cc
  util/internal/proto_writer.cc util/internal/protostream_objectsource.cc
  util/internal/protostream_objectwriter.cc util/internal/type_info.cc util/internal/utility.cc
  util/json_util.cc util/message_differencer.cc util/time_util.cc util/type_resolver_util.cc
  wire_format.cc wire_format_lite.cc wrappers.pb.cc)
list(TRANSFORM protobuf_sources PREPEND "${protobuf_dir}/src/google/protobuf/")

add_library(nereid_protobuf STATIC ${protobuf_sources})
target_include_directories(nereid_protobuf SYSTEM PUBLIC "${protobuf_dir}/src")
target_compile_options(nereid_protobuf PRIVATE ${NEREID_GENERATED_CODE})
# The sources are in the build folder, and their messages contain the names of the files: with absolute
# names, builds in different folders would differ. The compiler cache makes the names relative below its
# base, where an option with the folder's name would keep it from serving other folders.
cmake_path(IS_PREFIX CMAKE_SOURCE_DIR "${CMAKE_BINARY_DIR}" NORMALIZE below_base)
if(NOT NEREID_CCACHE OR NOT below_base)
  target_compile_options(nereid_protobuf PRIVATE "-fmacro-prefix-map=${CMAKE_BINARY_DIR}/=")
endif()
target_compile_definitions(nereid_protobuf PRIVATE HAVE_PTHREAD=1)
# Several files at a time, for most of what the compiler reads is the same headers again and again.
# Not all of them take their macros back, and some do not bear company.
nereid_group_sources_(nereid_protobuf 7
  "#ifdef PROTOBUF_NAMESPACE\n#include <google/protobuf/port_undef.inc>\n#endif\n")
set(protobuf_alone ${protobuf_sources})
string(CONCAT protobuf_alone_names "\\.pb\\.cc$|/(extension_set_heavy|"
  "generated_message_reflection|message_differencer|protostream_objectsource)\\.cc$")
list(FILTER protobuf_alone INCLUDE REGEX "${protobuf_alone_names}")
set_source_files_properties(${protobuf_alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_link_libraries(nereid_protobuf PUBLIC Threads::Threads)
if(NEREID_SANITIZE STREQUAL "address")
  # Its headers pass (nullptr, 0) to memcpy, which is harmless.
  target_compile_options(nereid_protobuf PUBLIC -fno-sanitize=nonnull-attribute)
endif()
