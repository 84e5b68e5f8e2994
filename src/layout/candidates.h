// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout/advise.h"
#include "layout/folder.h"

namespace nereid::layout {

/// How a kind of model is served.
struct KindFormat {
  FileKind kind = FileKind::kOther;
  std::string_view backend;
  /// Empty if the backend has no platforms.
  std::string_view platform;
  /// The name of the model in a version's directory.
  std::string_view filename;
  /// The ending of other names that mean the same kind, for files without their content (pointers
  /// of git-lfs, empty and damaged files).
  std::string_view endings[4];
};

/// Returns the table of the kinds, the most common ones first.
std::span<const KindFormat> KindFormats();

/// Returns the row of a kind, or null for kinds that no backend reads.
const KindFormat* FormatOf(FileKind kind);

/// Returns whether the backend has a row in the table, so that its model files are known.
bool HasFormats(std::string_view backend);

/// A model that lies somewhere in the folder: a file, or the directory of a saved model.
struct Candidate {
  std::string path;
  FileKind kind = FileKind::kOther;
};

/// Returns the kind of model that a file is or, by its name, was meant to be; kOther for none.
FileKind MeantKind(std::string_view path, const FolderEntry& entry);

/// Returns whether the backend reads this kind; an empty backend reads all.
bool Reads(std::string_view backend, FileKind kind);

/// Returns the models in the folder that the backend of `facts` reads (any, if it tells none),
/// sorted by path. Python sources count for the backend python only, or if they have the name
/// model.py.
std::vector<Candidate> FindCandidates(const Folder& folder, std::string_view backend);

/// Returns the candidates for which `is_wanted(path)` holds.
template <typename Wanted>
std::vector<Candidate> Select(const std::vector<Candidate>& all, Wanted is_wanted) {
  std::vector<Candidate> selected;
  for (const Candidate& candidate : all) {
    if (is_wanted(candidate.path)) selected.push_back(candidate);
  }
  return selected;
}

/// Returns the name that the model must have in a version's directory: the written one, else that
/// of its kind.
std::string WantedName(const ModelFacts& facts, FileKind kind);

/// Returns the path in the repository of a path in the model's directory.
std::string InRepository(const Folder& folder, std::string_view path);

/// Returns the steps that move a model with the files that belong to it (external data, weights,
/// the parts of a saved model, other Python sources) to `target`.
std::string MoveModel(const Folder& folder, const Candidate& candidate, const std::string& target);

/// Returns "found 'm/a.onnx' and 'm/b.onnx'".
std::string FoundText(const Folder& folder, const std::vector<Candidate>& candidates);

}  // namespace nereid::layout
