// SPDX-License-Identifier: Apache-2.0
#include "cache/model_fingerprint.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "model_config.pb.h"

namespace nereid::cache {

using base::Status;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSchema = "nereid model fingerprint 1";
constexpr size_t kChunkBytes = size_t{1} << 20;

/// Serializes the configuration so that equal configurations give equal bytes.
std::string ConfigBytes(const config::ModelConfig& config) {
  inference::ModelConfig proto = config.proto();
  proto.clear_instance_group();
  proto.clear_version_policy();
  proto.clear_model_warmup();
  proto.clear_dynamic_batching();
  proto.clear_response_cache();
  proto.clear_model_metrics();
  proto.clear_metric_tags();
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);  // sorts maps by key
    proto.SerializeToCodedStream(&coded);
  }
  return bytes;
}

Status Unreadable(const fs::path& path, const std::error_code& error) {
  return Status::Unavailable("cannot read '" + path.string() + "': " + error.message());
}

Status WriteFile(const fs::path& path, const std::string& name, DigestWriter& writer) {
  std::error_code error;
  const uint64_t size = fs::file_size(path, error);
  if (error) return Unreadable(path, error);
  writer.Text(name);
  writer.Number(size);
  std::ifstream file(path, std::ios::binary);
  std::vector<char> chunk(std::min<uint64_t>(size, kChunkBytes));
  uint64_t left = size;
  while (left > 0) {
    const auto part = static_cast<std::streamsize>(std::min<uint64_t>(left, chunk.size()));
    if (!file.read(chunk.data(), part)) {
      return Status::Unavailable("cannot read '" + path.string() + "': it ends after " +
                                 std::to_string(size - left) + " of " + std::to_string(size) +
                                 " bytes");
    }
    writer.Raw(chunk.data(), static_cast<size_t>(part));
    left -= static_cast<uint64_t>(part);
  }
  return Status::Ok();
}

/// Returns the regular files below `root`, relative to it, sorted.
base::Result<std::vector<std::string>> FilesBelow(const fs::path& root) {
  std::vector<std::string> files;
  std::error_code error;
  if (!fs::exists(root, error)) return files;
  fs::recursive_directory_iterator at(root, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->path().filename() == "__pycache__") {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(error)) {
      files.push_back(at->path().lexically_relative(root).string());
    }
  }
  if (error) return Unreadable(root, error);
  std::sort(files.begin(), files.end());
  return files;
}

base::Result<std::vector<std::string>> FilesIn(const fs::path& root) {
  std::vector<std::string> files;
  std::error_code error;
  if (!fs::exists(root, error)) return files;
  fs::directory_iterator at(root, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name != "config.pbtxt" && at->is_regular_file(error)) files.push_back(name);
  }
  if (error) return Unreadable(root, error);
  std::sort(files.begin(), files.end());
  return files;
}

Status WriteFiles(const fs::path& root, const std::vector<std::string>& names,
                  DigestWriter& writer) {
  writer.Number(names.size());
  for (const std::string& name : names) {
    NEREID_RETURN_IF_ERROR(WriteFile(root / name, name, writer));
  }
  return Status::Ok();
}

/// Returns the files of a version with their sizes, times and inodes. A file that cannot be listed
/// is left out: reading it reports the error.
std::string MarksOf(const fs::path& directory, const fs::path& version_directory) {
  std::string marks;
  const auto add = [&marks](const fs::path& root, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      struct stat info {};
      if (::stat((root / name).c_str(), &info) != 0) continue;
      marks += name;
      for (const auto part :
           {static_cast<int64_t>(info.st_size), static_cast<int64_t>(info.st_mtim.tv_sec),
            static_cast<int64_t>(info.st_mtim.tv_nsec), static_cast<int64_t>(info.st_ino)}) {
        marks += ' ' + std::to_string(part);
      }
      marks += '\n';
    }
  };
  if (const auto shared = FilesIn(directory); shared.ok()) add(directory, *shared);
  if (const auto own = FilesBelow(version_directory); own.ok()) add(version_directory, *own);
  return marks;
}

}  // namespace

std::optional<Digest> CombineFingerprints(const Digest& own, const std::vector<Digest>& members) {
  DigestWriter writer;
  writer.Text("nereid ensemble fingerprint 2");
  writer.Raw(own.data(), own.size());
  writer.Number(members.size());
  for (const Digest& member : members) writer.Raw(member.data(), member.size());
  return writer.Finish();
}

ContentFingerprint::ContentFingerprint(config::ModelConfigPtr config, std::string directory,
                                       std::string version_directory)
    : config_(std::move(config)),
      directory_(std::move(directory)),
      version_directory_(std::move(version_directory)),
      marks_(MarksOf(directory_, version_directory_)) {}

base::Result<Digest> ContentFingerprint::Compute() {
  const base::MutexLock lock(mutex_);
  if (result_) return *result_;
  result_ = Read();
  if (result_->ok()) {
    known_ = **result_;
    is_known_.store(true, std::memory_order_release);
  }
  return *result_;
}

base::Result<Digest> ContentFingerprint::Read() const {
  auto digest = FingerprintModel(*config_, directory_, version_directory_);
  if (digest.ok() && MarksOf(directory_, version_directory_) != marks_) {
    return Status::Unavailable("the files of '" + directory_ +
                               "' were changed after the model was loaded");
  }
  return digest;
}

std::optional<Digest> ContentFingerprint::Known() const {
  if (!is_known_.load(std::memory_order_acquire)) return std::nullopt;
  return known_;
}

base::Result<Digest> FingerprintModel(const config::ModelConfig& config,
                                      const std::string& directory,
                                      const std::string& version_directory) {
  DigestWriter writer;
  writer.Text(kSchema);
  writer.Text(ConfigBytes(config));
  NEREID_ASSIGN_OR_RETURN(const auto shared, FilesIn(directory));
  NEREID_RETURN_IF_ERROR(WriteFiles(directory, shared, writer));
  NEREID_ASSIGN_OR_RETURN(const auto own, FilesBelow(version_directory));
  NEREID_RETURN_IF_ERROR(WriteFiles(version_directory, own, writer));
  const auto digest = writer.Finish();
  if (!digest) return Status::Internal("SHA-256 is not available from the cryptographic library");
  return *digest;
}

}  // namespace nereid::cache
