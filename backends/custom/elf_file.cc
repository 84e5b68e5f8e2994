// SPDX-License-Identifier: Apache-2.0
#include "custom/elf_file.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace nereid::custom {
namespace {

constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

bool Read(std::ifstream* file, uint64_t offset, void* to, size_t size) {
  file->seekg(static_cast<std::streamoff>(offset));
  return file->read(static_cast<char*>(to), static_cast<std::streamsize>(size)).good();
}

}  // namespace

std::string ElfFault(const std::string& path) {
  std::error_code failed;
  const uint64_t file_size = std::filesystem::file_size(path, failed);
  std::ifstream file(path, std::ios::binary);
  if (failed || !file) {
    return "it cannot be read";
  }
  ElfW(Ehdr) header = {};
  if (!Read(&file, 0, &header, sizeof(header))) {
    return "it is too short for an ELF file";
  }
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return "it is no ELF file";
  }
  if (header.e_ident[EI_CLASS] != kClass || header.e_type != ET_DYN ||
      header.e_phentsize != sizeof(ElfW(Phdr))) {
    return "it is no shared library for this machine";
  }
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment = {};
    uint64_t at = 0;
    uint64_t end = 0;
    if (__builtin_add_overflow(header.e_phoff, i * sizeof(segment), &at) ||
        at > file_size - sizeof(header) || !Read(&file, at, &segment, sizeof(segment)) ||
        (segment.p_type == PT_LOAD &&
         (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) || end > file_size))) {
      return "it is cut short, at " + std::to_string(file_size) + " bytes";
    }
  }
  return "";
}

}  // namespace nereid::custom
