// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "repository/loaded_model.h"

namespace nereid::repository {

/// Creates models without content, but refuses versions whose configuration has the parameter "bad"
/// (or "bad_version" with their number). TakeEvents() returns the calls: "load m:1", "update m:1",
/// "activate m:1", "gone m:1". Thread-safe.
class FakeLoader : public ModelLoader {
 public:
  struct FakeModel : LoadedModel {
    FakeModel(FakeLoader& loader, const VersionSource& source, std::function<void()> gone)
        : loader(loader), source(source), on_destroyed(std::move(gone)) {}
    ~FakeModel() override {
      loader.Note("gone", source);
      source.origin.reset();
      on_destroyed();
    }
    const config::ModelConfig& config() const override { return *source.config; }
    base::Status CheckReady() override { return base::Status::Ok(); }
    void Activate() override { loader.Note("activate", source); }
    FakeLoader& loader;
    VersionSource source;
    std::function<void()> on_destroyed;
  };

  base::Result<std::shared_ptr<LoadedModel>> Load(const VersionSource& source,
                                                  std::function<void()> on_destroyed) override {
    ++loads;
    if (on_load) on_load(source);
    return Make("load", source, std::move(on_destroyed));
  }
  base::Result<std::shared_ptr<LoadedModel>> Update(const std::shared_ptr<LoadedModel>& serving,
                                                    const VersionSource& source,
                                                    std::function<void()> on_destroyed) override {
    if (serving == nullptr) return base::Status::Internal("nothing serves");
    return Make("update", source, std::move(on_destroyed));
  }

  /// Returns the events since the last call.
  std::vector<std::string> TakeEvents() {
    base::MutexLock lock(mutex_);
    return std::exchange(events_, {});
  }

  std::atomic<int> loads{0};
  /// Called by each Load, on the thread that loads, before the model is created.
  std::function<void(const VersionSource&)> on_load;

 private:
  base::Result<std::shared_ptr<LoadedModel>> Make(const char* event, const VersionSource& source,
                                                  std::function<void()> on_destroyed) {
    Note(event, source);
    const std::string* bad_version = source.config->FindParameter("bad_version");
    if (source.config->FindParameter("bad") != nullptr ||
        (bad_version != nullptr && *bad_version == std::to_string(source.version))) {
      return base::Status::InvalidArgument("it is bad");
    }
    return std::shared_ptr<LoadedModel>(
        std::make_shared<FakeModel>(*this, source, std::move(on_destroyed)));
  }
  void Note(const std::string& event, const VersionSource& source) {
    base::MutexLock lock(mutex_);
    events_.push_back(event + " " + ToText(source.id) + ":" + std::to_string(source.version));
  }

  base::Mutex mutex_;
  std::vector<std::string> events_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository
