// SPDX-License-Identifier: Apache-2.0
#include "layout/torchscript_file.h"

#include <zlib.h>

#include <algorithm>

#include "base/zip_directory.h"

namespace nereid::layout {
namespace {

using base::Status;

constexpr uint64_t kMaxDirectory = uint64_t{64} << 20;
constexpr uint64_t kMaxCode = uint64_t{64} << 20;
/// The root class stands at the beginning of data.pkl.
constexpr uint64_t kMaxPickleHead = 4096;

/// Inflates raw deflate data to at most `size` bytes; returns fewer for damaged data.
std::string Inflate(const std::string& packed, size_t size) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return {};
  std::string text(size, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  inflate(&stream, Z_FINISH);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

/// Returns the content of a record, at most `limit` bytes.
base::Result<std::string> ReadRecord(const base::ByteSource& file, const base::ZipEntry& entry,
                                     uint64_t limit) {
  constexpr uint16_t kStored = 0;
  constexpr uint16_t kDeflated = 8;
  NEREID_ASSIGN_OR_RETURN(const uint64_t offset, base::ZipDataOffset(file, entry));
  const uint64_t packed = std::min(entry.packed_size, limit);
  const std::string bytes = file.Read(offset, static_cast<size_t>(packed));
  if (entry.method == kStored) return bytes;
  if (entry.method != kDeflated) {
    return Status::InvalidArgument("the record '" + entry.name + "' is packed in an unknown way");
  }
  // Deflate makes data at most about a thousand times smaller, so the announced size is bounded by
  // the bytes that are there.
  constexpr uint64_t kMaxRatio = 1032;
  const uint64_t size = std::min({entry.size, limit, bytes.size() * kMaxRatio});
  return Inflate(bytes, static_cast<size_t>(size));
}

/// Returns the part of a record's name behind the name of the archive: "code/a.py" of
/// "model/code/a.py".
std::string_view InArchive(std::string_view name) {
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
}

}  // namespace

base::Result<TorchScriptModule> ReadTorchScript(const base::ByteSource& file) {
  NEREID_ASSIGN_OR_RETURN(const auto entries, base::ReadZipDirectory(file, kMaxDirectory));
  constexpr std::string_view kCode = "code/";
  constexpr std::string_view kEnding = ".py";
  TorchScriptCode code;
  std::string root;
  uint64_t left = kMaxCode;
  for (const base::ZipEntry& entry : entries) {
    const std::string_view name = InArchive(entry.name);
    if (name == "data.pkl") {
      NEREID_ASSIGN_OR_RETURN(const std::string head, ReadRecord(file, entry, kMaxPickleHead));
      root = RootClassOf(head);
    }
    if (!name.starts_with(kCode) || !name.ends_with(kEnding)) continue;
    NEREID_ASSIGN_OR_RETURN(std::string source, ReadRecord(file, entry, left));
    left -= std::min<uint64_t>(left, source.size());
    code[std::string(name.substr(kCode.size(), name.size() - kCode.size() - kEnding.size()))] =
        std::move(source);
  }
  TorchScriptModule module = ReadModuleCode(code, root);
  if (!module.has_forward) {
    return Status::InvalidArgument("the TorchScript module has no method forward");
  }
  return module;
}

}  // namespace nereid::layout
