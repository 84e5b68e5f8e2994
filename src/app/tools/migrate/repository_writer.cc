// SPDX-License-Identifier: Apache-2.0
#include "app/tools/migrate/repository_writer.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "app/tools/migrate/ensemble_of_pipeline.h"
#include "app/tools/migrate/migrated_config.h"
#include "app/tools/migrate/model_folder.h"
#include "base/files.h"

namespace nereid::app::tools {
namespace {

namespace fs = std::filesystem;
using base::Status;

constexpr int kMaxCopyDepth = 32;

Status Failed(const std::string& what, const std::string& path, const std::error_code& error) {
  return Status::Internal("failed to " + what + " " + path + ": " + error.message());
}

Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? Failed("make the folder", path, error) : Status();
}

Status WriteText(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  return out ? Status() : Status::Internal("failed to write " + path);
}

/// Copies a file, or a folder with the files and folders in it. Links are followed to files only: a
/// link to a folder may lead back to where it is.
Status CopyTree(const fs::path& from, const fs::path& to, int depth) {
  std::error_code error;
  if (!fs::is_directory(from, error)) {
    if (!fs::is_regular_file(from, error)) {
      return Status::InvalidArgument(from.string() + " is no file and no folder");
    }
    fs::copy_file(from, to, error);
    return error ? Failed("copy", from.string(), error) : Status();
  }
  if (depth == 0) return Status::InvalidArgument(from.string() + " is in too many folders");
  NEREID_RETURN_IF_ERROR(MakeFolder(to.string()));
  NEREID_ASSIGN_OR_RETURN(const auto names, base::ListDirectory(from.string()));
  for (const std::string& name : names) {
    const fs::path path = from / name;
    if (fs::is_symlink(path, error) && fs::is_directory(path, error)) {
      return Status::InvalidArgument(
          path.string() + " is a link to a folder, which is not copied; leave out --copy");
    }
    NEREID_RETURN_IF_ERROR(CopyTree(path, to / name, depth - 1));
  }
  return {};
}

/// Writes the models and pipelines of one migration.
class Writer {
 public:
  explicit Writer(const RepositoryWish& wish) : wish_(wish) {}

  MigratedRow Write(MigratedModel model) {
    MigratedRow row{model.name, "", false, {}, {}};
    const Status status = TryWrite(&model, &row.what);
    row.is_converted = status.ok();
    if (!status.ok()) row.what = status.message();
    row.notes = std::move(model.notes);
    row.hints = std::move(model.hints);
    return row;
  }

  MigratedRow Write(const MigratedPipeline& pipeline) {
    MigratedRow row{pipeline.name, "", false, {}, {}};
    const Status status = TryWrite(pipeline);
    row.is_converted = status.ok();
    row.what = status.ok() ? "ensemble of " + std::to_string(pipeline.nodes.size()) + " steps"
                           : status.message();
    return row;
  }

  void set_server(OtherServer server) { server_ = server; }

 private:
  std::string Place(const std::string& base_path) const {
    std::string path = base_path;
    for (const auto& [from, to] : wish_.places) {
      if (path != from && !path.starts_with(from + "/")) continue;
      path.replace(0, from.size(), to);
      break;
    }
    if (!path.starts_with('/')) path = wish_.base + "/" + path;
    path = fs::absolute(path).lexically_normal().string();
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
  }

  /// Finds everything before it writes anything.
  Status TryWrite(MigratedModel* model, std::string* what) {
    if (model->base_path.find("://") != std::string::npos) {
      return Status::Unsupported(
          "base_path " + model->base_path +
          " is in an object store: copy the model, or lay it out there as a repository "
          "(docs/user/cloud_repositories.md)");
    }
    const std::string folder = Place(model->base_path);
    NEREID_ASSIGN_OR_RETURN(const auto versions, FindVersions(folder));
    std::vector<ModelFiles> files;
    *what = versions.size() == 1 ? "version" : "versions";
    for (const VersionFolder& version : versions) {
      NEREID_ASSIGN_OR_RETURN(files.emplace_back(), FindModelFiles(server_, version.path));
      *what += (files.size() == 1 ? " " : ", ") + std::to_string(version.number);
    }
    *what += " of " + folder;
    // The newest version says what the inputs are, as it is the one that serves by default.
    NEREID_ASSIGN_OR_RETURN(const ConfigDraft draft, DraftOfMigrated(files.back(), model));
    const std::string text = MigratedConfig(draft, model);
    const std::string target = base::JoinPath(wish_.folder, model->name);
    NEREID_RETURN_IF_ERROR(MakeFolder(target));
    NEREID_RETURN_IF_ERROR(WriteText(base::JoinPath(target, "config.pbtxt"), text));
    if (!model->labels.empty()) {
      NEREID_RETURN_IF_ERROR(
          WriteText(base::JoinPath(target, "rollout.json"), RolloutOfLabels(*model)));
      model->hints.push_back(
          "labels: after each start of the server send them: curl -X PUT "
          "localhost:8000/v2/repository/models/" +
          model->name + "/rollout -d @" + base::JoinPath(target, "rollout.json"));
    }
    for (size_t i = 0; i < versions.size(); ++i) {
      const std::string number = std::to_string(versions[i].number);
      NEREID_RETURN_IF_ERROR(WriteParts(files[i], base::JoinPath(target, number)));
    }
    drafts_.emplace(model->name, draft);
    return {};
  }

  Status WriteParts(const ModelFiles& files, const std::string& folder) const {
    NEREID_RETURN_IF_ERROR(MakeFolder(folder));
    for (const auto& [name, path] : files.parts) {
      const std::string target = base::JoinPath(folder, name);
      if (wish_.copies) {
        NEREID_RETURN_IF_ERROR(CopyTree(path, target, kMaxCopyDepth));
        continue;
      }
      std::error_code error;
      fs::create_symlink(path, target, error);
      if (error) return Failed("make the link", target, error);
    }
    return {};
  }

  Status TryWrite(const MigratedPipeline& pipeline) const {
    NEREID_ASSIGN_OR_RETURN(const std::string text, EnsembleOfPipeline(pipeline, drafts_));
    const std::string target = base::JoinPath(wish_.folder, pipeline.name);
    NEREID_RETURN_IF_ERROR(MakeFolder(base::JoinPath(target, "1")));
    return WriteText(base::JoinPath(target, "config.pbtxt"), text);
  }

  const RepositoryWish& wish_;
  OtherServer server_ = OtherServer::kTensorFlowServing;
  std::map<std::string, ConfigDraft> drafts_;  // of the converted models
};

}  // namespace

base::Result<std::vector<MigratedRow>> WriteRepository(Migration migration,
                                                       const RepositoryWish& wish) {
  if (base::PathExists(wish.folder)) {
    NEREID_ASSIGN_OR_RETURN(const auto names, base::ListDirectory(wish.folder));
    if (!names.empty()) return Status::AlreadyExists(wish.folder + " is not empty");
  }
  NEREID_RETURN_IF_ERROR(MakeFolder(wish.folder));
  Writer writer(wish);
  writer.set_server(migration.from);
  std::vector<MigratedRow> rows;
  for (MigratedModel& model : migration.models) rows.push_back(writer.Write(std::move(model)));
  for (const MigratedPipeline& pipeline : migration.pipelines) {
    rows.push_back(writer.Write(pipeline));
  }
  return rows;
}

}  // namespace nereid::app::tools
