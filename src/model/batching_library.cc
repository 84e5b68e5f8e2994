// SPDX-License-Identifier: Apache-2.0
#include "model/batching_library.h"

#include <array>
#include <filesystem>

#include "abi/error.h"
#include "abi/handle.h"
#include "abi/plugin_library.h"
#include "base/files.h"
#include "base/log.h"

namespace nereid::model {

using base::Status;

namespace {

constexpr const char* kParameter = "TRITON_BATCH_STRATEGY_PATH";
constexpr const char* kFileName = "batchstrategy.so";

/// Calls a function of the library and logs its error or exception. Returns whether it succeeded.
template <typename Call>
bool Succeeds(const char* what, Call&& call) noexcept {
  const Status status = abi::TakeStatus(abi::Guard([&] { return abi::TakeStatus(call()); }));
  if (!status.ok()) LOG_ERROR << "custom batching: " << what << ": " << status.message();
  return status.ok();
}

std::filesystem::path Absolute(const std::filesystem::path& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return (error ? path : absolute).lexically_normal();
}

/// Compares the text of the paths: the file itself may be a link to anywhere.
bool LiesIn(const std::filesystem::path& path, const std::filesystem::path& directory) {
  const auto relative = Absolute(path).lexically_relative(Absolute(directory / ""));
  return !relative.empty() && *relative.begin() != "..";
}

base::Result<std::string> NamedLibrary(const config::ModelConfig& config, const std::string& value,
                                       const std::string& model_directory) {
  // An absolute `value` replaces the directory.
  const std::string path = (std::filesystem::path(model_directory) / value).string();
  const std::string prefix =
      "model '" + config.name() + "': parameter '" + kParameter + "' is '" + value + "', ";
  if (!LiesIn(path, model_directory)) {
    return Status::InvalidArgument(prefix + "which is outside of the model's directory");
  }
  if (!base::PathExists(path)) return Status::NotFound(prefix + "where there is no file");
  return path;
}

}  // namespace

base::Result<std::string> FindBatchingLibrary(const config::ModelConfig& config,
                                              const std::string& model_directory,
                                              const std::string& version_directory,
                                              const std::string& backend_directory) {
  const std::string* const named = config.FindParameter(kParameter);
  if (config.sequence_batching()) {
    if (named != nullptr) {
      LOG_ERROR_OF(.model = config.name())
          << "model '" << config.name() << "': " << kParameter
          << " cannot be specified with sequence batcher, using default batching strategy";
    }
    return std::string();
  }
  if (named != nullptr) return NamedLibrary(config, *named, model_directory);
  for (const std::string& directory :
       std::array{version_directory, model_directory, backend_directory}) {
    std::string path = base::JoinPath(directory, kFileName);
    if (base::PathExists(path)) return path;
  }
  return std::string();
}

base::Result<std::shared_ptr<BatchingLibrary>> BatchingLibrary::Open(const std::string& path,
                                                                     backend::BackendModel& model) {
  std::shared_ptr<BatchingLibrary> made(new BatchingLibrary());
  NEREID_ASSIGN_OR_RETURN(made->library_, abi::OpenPlugin(path));
  Functions& functions = made->functions_;
  const auto find = [&](const char* name, auto* function) {
    made->library_->Find(name, function);
    if (*function != nullptr) return Status::Ok();
    return Status::NotFound("unable to find required entrypoint '" + std::string(name) +
                            "' in batching library " + path);
  };
  NEREID_RETURN_IF_ERROR(find("TRITONBACKEND_ModelBatcherInitialize", &functions.initialize));
  NEREID_RETURN_IF_ERROR(find("TRITONBACKEND_ModelBatcherFinalize", &functions.finalize));
  NEREID_RETURN_IF_ERROR(find("TRITONBACKEND_ModelBatchIncludeRequest", &functions.include));
  NEREID_RETURN_IF_ERROR(find("TRITONBACKEND_ModelBatchInitialize", &functions.begin));
  NEREID_RETURN_IF_ERROR(find("TRITONBACKEND_ModelBatchFinalize", &functions.end));
  NEREID_RETURN_IF_ERROR(abi::TakeStatus(functions.initialize(&made->batcher_, model.handle())));
  made->initialized_ = true;
  return made;
}

BatchingLibrary::~BatchingLibrary() {
  End();
  if (!initialized_) return;
  Succeeds("ModelBatcherFinalize", [&] { return functions_.finalize(batcher_); });
}

void BatchingLibrary::Begin() noexcept {
  End();
  batch_ = nullptr;
  // If this fails, Includes accepts every request of the batch.
  in_batch_ = Succeeds("ModelBatchInitialize", [&] { return functions_.begin(batcher_, &batch_); });
}

void BatchingLibrary::End() noexcept {
  if (!in_batch_) return;
  in_batch_ = false;
  Succeeds("ModelBatchFinalize", [&] { return functions_.end(batch_); });
}

bool BatchingLibrary::Includes(request::InferenceRequest& request) noexcept {
  if (!in_batch_) return true;
  bool includes = true;
  const bool answered = Succeeds("ModelBatchIncludeRequest", [&] {
    return functions_.include(abi::Wrap<TRITONBACKEND_Request>(&request), batch_, &includes);
  });
  // A request about which the library gave no answer joins, as without a library.
  return includes || !answered;
}

}  // namespace nereid::model
