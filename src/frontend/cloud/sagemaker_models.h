// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/inference_service.h"
#include "api/model_directories.h"
#include "base/mutex.h"
#include "base/result.h"
#include "codec/json/sagemaker_model.h"

namespace nereid::frontend::cloud {

/// The models that SageMaker loads while the server runs (multi-model endpoints): each is a
/// directory that is named by its path. Thread-safe.
class SagemakerModels {
 public:
  using Model = codec::json::SagemakerModel;

  struct Options {
    /// The directories below which models may be loaded. Links are followed before this is checked.
    std::vector<std::string> roots;
    /// How many models one page of List() has at most.
    size_t page_size = 1000;
  };
  struct Page {
    std::vector<Model> models;    // sorted by name
    std::string next_page_token;  // empty: this is the last page
  };

  /// `service` and `directories` must outlive the object.
  SagemakerModels(api::InferenceService& service, api::ModelDirectories& directories,
                  Options options);

  /// Loads a model. Blocks until it is ready or has failed. ALREADY_EXISTS if a model of this name
  /// is there or is being loaded, INVALID_ARGUMENT for a URL that may not be loaded or has no
  /// model. `is_abandoned`: see api::InferenceService::LoadModel.
  base::Status Load(const Model& model, const std::function<bool()>& is_abandoned);

  /// Unloads a model and waits until its memory is free, the client has gone, or Stop() was called;
  /// at most kMaxUnloadSeconds. NOT_FOUND if it was not loaded here.
  base::Status Unload(const std::string& name, const std::function<bool()>& is_abandoned);

  /// Returns a loaded model; NOT_FOUND if there is none of this name. Quick: asks no plug-in
  /// whether it is ready, because SageMaker asks what is in memory.
  base::Result<Model> Find(const std::string& name) const;

  /// Returns the loaded models that follow those of an earlier page. `token` is that page's
  /// next_page_token, or empty for the first page. INVALID_ARGUMENT for another text.
  base::Result<Page> List(std::string_view token) const;

  /// Ends the waits of Unload().
  void Stop();

  /// SageMaker itself waits for 360 seconds.
  static constexpr int kMaxUnloadSeconds = 350;

 private:
  enum class State { kLoading, kLoaded, kUnloading };
  struct Entry {
    std::string url;
    std::string added;  // for ModelDirectories::Remove()
    State state = State::kLoading;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  base::Status CheckUrl(const std::string& url) const;
  bool IsServed(const std::string& name) const;
  /// Begins to load a model: no other call loads or unloads it until EndLoad().
  base::Status BeginLoad(const Model& model, std::string* stale);
  base::Result<std::string> AddAndLoad(const Model& model,
                                       const std::function<bool()>& is_abandoned);
  void EndLoad(const std::string& name, const base::Result<std::string>& added);
  /// The same for unloading. Returns the entry's `added`.
  base::Result<std::string> BeginUnload(const std::string& name);
  void EndUnload(const std::string& name, bool is_unloaded);
  bool IsUnloading(const std::string& name) const;
  void WaitUntilGone(const std::string& name, const std::function<bool()>& is_abandoned);

  api::InferenceService& service_;
  api::ModelDirectories& directories_;
  const Options options_;
  mutable base::Mutex mutex_;
  base::ConditionVariable stopped_;
  Entries entries_ NEREID_GUARDED_BY(mutex_);
  bool is_stopping_ NEREID_GUARDED_BY(mutex_) = false;
};

}  // namespace nereid::frontend::cloud
