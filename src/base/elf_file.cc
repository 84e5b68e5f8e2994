// SPDX-License-Identifier: Apache-2.0
// The format is described in <elf.h> and in the System V ABI, chapters 4 and 5.
#include "base/elf_file.h"

#include <elf.h>

#include <bit>
#include <cstring>
#include <optional>

namespace nereid::base {
namespace {

constexpr unsigned char kByteOrder =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
constexpr Elf64_Half kMachine = EM_NONE;
#endif

/// Returns the T at `offset` of the file, or nothing if it does not lie inside. `offset` need not
/// be aligned.
template <typename T>
std::optional<T> Read(std::string_view file, uint64_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

Status NotAnObject() { return Status::InvalidArgument("not a 64-bit ELF shared object"); }

Result<std::vector<Elf64_Phdr>> ReadSegments(std::string_view file) {
  const auto header = Read<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != kByteOrder ||
      header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff > file.size()) {
    return NotAnObject();
  }
  std::vector<Elf64_Phdr> segments;
  for (uint64_t i = 0; i < header->e_phnum; ++i) {
    // Cannot overflow: e_phnum has 16 bits, and e_phoff is at most the size of the file.
    const auto segment = Read<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return NotAnObject();
    segments.push_back(*segment);
  }
  return segments;
}

/// Returns the part of the file that is loaded at `address`, up to the end of its segment. Empty if
/// no segment contains the address.
std::string_view Loaded(std::string_view file, const std::vector<Elf64_Phdr>& segments,
                        uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t into = address - segment.p_vaddr;
    if (into >= segment.p_filesz || segment.p_offset > file.size()) continue;
    const std::string_view part = file.substr(segment.p_offset, segment.p_filesz);
    return into < part.size() ? part.substr(into) : std::string_view();
  }
  return {};
}

/// The beginning of a forwarding library. The file is loaded at offset 0, so file offsets equal
/// addresses. The entries of the dynamic section follow, then the names.
struct Forwarder {
  Elf64_Ehdr header = {};
  Elf64_Phdr segments[3] = {};
  Elf64_Sym no_symbol = {};
  Elf64_Word hash[4] = {1, 1, 0, 0};  // one bucket and one chain, both empty
};
static_assert(sizeof(Forwarder) % alignof(Elf64_Dyn) == 0);

}  // namespace

Result<std::vector<std::string>> NeededLibraries(std::string_view file) {
  NEREID_ASSIGN_OR_RETURN(const auto segments, ReadSegments(file));
  std::vector<uint64_t> names;
  std::string_view texts;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_DYNAMIC) continue;
    if (segment.p_offset > file.size() || segment.p_filesz > file.size() - segment.p_offset) {
      return NotAnObject();
    }
    const std::string_view dynamic = file.substr(segment.p_offset, segment.p_filesz);
    for (uint64_t at = 0; const auto entry = Read<Elf64_Dyn>(dynamic, at); at += sizeof(*entry)) {
      if (entry->d_tag == DT_NULL) break;
      if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
      // The string table is given as an address, so its offset in the file follows from the
      // segments.
      if (entry->d_tag == DT_STRTAB) texts = Loaded(file, segments, entry->d_un.d_ptr);
    }
  }
  std::vector<std::string> needed;
  for (const uint64_t name : names) {
    const size_t end = name < texts.size() ? texts.find('\0', name) : std::string_view::npos;
    if (end == std::string_view::npos) return NotAnObject();
    needed.emplace_back(texts.substr(name, end - name));
  }
  return needed;
}

std::string ForwardingLibrary(const std::string& soname, const std::vector<std::string>& targets) {
  std::string names(1, '\0');
  const auto add_name = [&](const std::string& name) {
    const size_t at = names.size();
    names += name + '\0';
    return at;
  };
  std::vector<std::pair<Elf64_Sxword, uint64_t>> entries = {{DT_SONAME, add_name(soname)}};
  for (const std::string& target : targets) entries.emplace_back(DT_NEEDED, add_name(target));
  const uint64_t dynamic = sizeof(Forwarder);
  const uint64_t dynamic_size = (entries.size() + 6) * sizeof(Elf64_Dyn);
  entries.insert(entries.end(), {{DT_HASH, offsetof(Forwarder, hash)},
                                 {DT_STRTAB, dynamic + dynamic_size},
                                 {DT_STRSZ, names.size()},
                                 {DT_SYMTAB, offsetof(Forwarder, no_symbol)},
                                 {DT_SYMENT, sizeof(Elf64_Sym)},
                                 {DT_NULL, 0}});

  Forwarder file;
  std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_ident[EI_DATA] = kByteOrder;
  file.header.e_ident[EI_VERSION] = EV_CURRENT;
  file.header.e_type = ET_DYN;
  file.header.e_machine = kMachine;
  file.header.e_version = EV_CURRENT;
  file.header.e_phoff = offsetof(Forwarder, segments);
  file.header.e_ehsize = sizeof(Elf64_Ehdr);
  file.header.e_phentsize = sizeof(Elf64_Phdr);
  file.header.e_phnum = std::size(file.segments);
  const uint64_t size = dynamic + dynamic_size + names.size();
  // Writable, because the dynamic loader replaces the addresses in the dynamic section by pointers.
  file.segments[0] = {PT_LOAD, PF_R | PF_W, 0, 0, 0, size, size, 0x10000};
  file.segments[1] = {PT_DYNAMIC, PF_R | PF_W,  dynamic,      dynamic,
                      dynamic,    dynamic_size, dynamic_size, alignof(Elf64_Dyn)};
  // Without a PT_GNU_STACK segment the loader would make every stack of the process executable.
  file.segments[2] = {PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16};

  std::string bytes(reinterpret_cast<const char*>(&file), sizeof(file));
  for (const auto& [tag, value] : entries) {
    Elf64_Dyn entry = {};
    entry.d_tag = tag;
    entry.d_un.d_val = value;
    bytes.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
  }
  return bytes + names;
}

}  // namespace nereid::base
