// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "repository/settle/tree_marks.h"

namespace nereid::repository {

/// A model's directory in a simulated file system: marks, and what each file contains. Times come
/// from a clock with ticks of 4 ms, as Linux has it.
class SimulatedModel {
 public:
  /// The set that a file belongs to, and how much of the file is written.
  struct Content {
    int set = 0;
    int chunks = 0;
    auto operator<=>(const Content&) const = default;
  };
  using Files = std::map<std::string, Content>;

  bool exists() const { return marks_.contains(""); }
  const TreeMarks& marks() const { return marks_; }
  const Files& files() const { return files_; }

  void MakeDirectory(const std::string& path, int64_t wall_ns) {
    if (!marks_.contains(path)) marks_[path] = Fresh(true, wall_ns);
    Touch(ParentOf(path), wall_ns);
  }
  /// Writes one more chunk of a file. The first chunk of a set truncates the file, or creates it.
  /// `keeps_time`: the writer sets the modification time to a constant, as rsync does.
  void WriteChunk(const std::string& path, int set, int64_t wall_ns, bool keeps_time) {
    if (!marks_.contains(path)) {
      marks_[path] = Fresh(false, wall_ns);
      Touch(ParentOf(path), wall_ns);
    }
    Content& content = files_[path];
    if (content.set != set) content = {set, 0};
    ++content.chunks;
    FileMark& mark = marks_[path];
    mark.size = static_cast<uint64_t>(content.chunks);
    mark.changed_ns = Tick(wall_ns);
    mark.modified_ns = keeps_time ? 1 : mark.changed_ns;
  }
  /// Deletes a file, or a directory with all that is in it.
  void Delete(const std::string& path, int64_t wall_ns) {
    std::erase_if(marks_, [&](const auto& entry) { return IsBelow(entry.first, path); });
    std::erase_if(files_, [&](const auto& entry) { return IsBelow(entry.first, path); });
    if (!path.empty()) Touch(ParentOf(path), wall_ns);
  }
  /// Puts the directory `from` of another place here, under the path `to`. It keeps its inodes and
  /// the times of its files.
  void MoveIn(const SimulatedModel& from, const std::string& to, int64_t wall_ns) {
    Delete(to, wall_ns);
    const auto place = [&](const std::string& path) {
      if (path.empty()) return to;
      return to.empty() ? path : to + "/" + path;
    };
    for (const auto& [path, mark] : from.marks_) marks_[place(path)] = mark;
    for (const auto& [path, content] : from.files_) files_[place(path)] = content;
    marks_[to].changed_ns = Tick(wall_ns);  // a rename does not set the modification time
    if (!to.empty()) Touch(ParentOf(to), wall_ns);
  }

  /// Returns the times as the file system stores them.
  static int64_t Tick(int64_t wall_ns) { return wall_ns - wall_ns % 4'000'000; }

 private:
  static std::string ParentOf(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }
  static bool IsBelow(const std::string& path, const std::string& directory) {
    return directory.empty() || path == directory || path.starts_with(directory + "/");
  }
  FileMark Fresh(bool is_directory, int64_t wall_ns) {
    static uint64_t next_inode = 0;
    const int64_t time = Tick(wall_ns);
    return {is_directory, 1, ++next_inode, 0, time, time, time};
  }
  void Touch(const std::string& path, int64_t wall_ns) {
    const auto found = marks_.find(path);
    if (found == marks_.end()) return;
    found->second.changed_ns = Tick(wall_ns);
    found->second.modified_ns = found->second.changed_ns;
  }

  TreeMarks marks_;
  Files files_;
};

}  // namespace nereid::repository
