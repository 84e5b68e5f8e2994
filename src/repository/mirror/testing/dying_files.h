// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "repository/mirror/file_operations.h"

namespace nereid::repository::mirror {

/// Operations that end after a number of them, as if the process was killed: the last one is done
/// in half if it is a write, and none is done after it. Thread-safe.
class DyingFiles final : public FileOperations {
 public:
  explicit DyingFiles(int operations) : left_(operations) {}

  bool is_dead() const { return left_ < 0; }

  base::Status MakeDirectory(const std::string& path) override {
    NEREID_RETURN_IF_ERROR(Live());
    return files_.MakeDirectory(path);
  }
  base::Result<OpenFile> Create(const std::string& path) override {
    NEREID_RETURN_IF_ERROR(Live());
    return files_.Create(path);
  }
  base::Status Write(const OpenFile& file, const std::string& path, uint64_t offset,
                     std::string_view bytes) override {
    const base::Status live = Live();
    if (live.ok()) return files_.Write(file, path, offset, bytes);
    if (left_ == -1) (void)files_.Write(file, path, offset, bytes.substr(0, bytes.size() / 2));
    return live;
  }
  base::Status Sync(const OpenFile& file, const std::string& path) override {
    NEREID_RETURN_IF_ERROR(Live());
    return files_.Sync(file, path);
  }
  base::Status Protect(const std::string& path) override {
    NEREID_RETURN_IF_ERROR(Live());
    return files_.Protect(path);
  }
  base::Status Rename(const std::string& from, const std::string& to) override {
    NEREID_RETURN_IF_ERROR(Live());
    return files_.Rename(from, to);
  }
  base::Status Link(const std::string& from, const std::string& to) override {
    NEREID_RETURN_IF_ERROR(Live());
    return files_.Link(from, to);
  }
  base::Status Remove(const std::string& path) override {
    NEREID_RETURN_IF_ERROR(Live());
    return files_.Remove(path);
  }
  base::Status RemoveTree(const std::string& path) override {
    NEREID_RETURN_IF_ERROR(Live());
    return files_.RemoveTree(path);
  }
  void MarkUsed(const std::string& path) override {
    if (!is_dead()) files_.MarkUsed(path);
  }

 private:
  base::Status Live() {
    if (--left_ >= 0) return base::Status::Ok();
    return base::Status::Internal("the process was killed");
  }

  FileOperations& files_ = SystemFileOperations();
  std::atomic<int> left_;
};

/// Operations of which a test replaces some.
class ScriptedFiles final : public FileOperations {
 public:
  std::function<base::Status(const std::string&path)> on_write, on_link, on_create;

  base::Status MakeDirectory(const std::string& path) override {
    return files_.MakeDirectory(path);
  }
  base::Result<OpenFile> Create(const std::string& path) override {
    if (on_create) NEREID_RETURN_IF_ERROR(on_create(path));
    return files_.Create(path);
  }
  base::Status Write(const OpenFile& file, const std::string& path, uint64_t offset,
                     std::string_view bytes) override {
    if (on_write) NEREID_RETURN_IF_ERROR(on_write(path));
    return files_.Write(file, path, offset, bytes);
  }
  base::Status Sync(const OpenFile& file, const std::string& path) override {
    return files_.Sync(file, path);
  }
  base::Status Protect(const std::string& path) override { return files_.Protect(path); }
  base::Status Rename(const std::string& from, const std::string& to) override {
    return files_.Rename(from, to);
  }
  base::Status Link(const std::string& from, const std::string& to) override {
    if (on_link) NEREID_RETURN_IF_ERROR(on_link(to));
    return files_.Link(from, to);
  }
  base::Status Remove(const std::string& path) override { return files_.Remove(path); }
  base::Status RemoveTree(const std::string& path) override { return files_.RemoveTree(path); }
  void MarkUsed(const std::string& path) override { files_.MarkUsed(path); }

 private:
  FileOperations& files_ = SystemFileOperations();
};

}  // namespace nereid::repository::mirror
