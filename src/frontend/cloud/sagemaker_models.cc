// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/sagemaker_models.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>
#include <utility>

#include "base/files.h"
#include "base/hex_text.h"

namespace nereid::frontend::cloud {

using base::Status;

namespace {

/// The longest path that Linux opens.
constexpr size_t kMaxUrlSize = 4096;

// Between two looks at a model that is being unloaded.
constexpr std::chrono::milliseconds kFirstWait{10};
constexpr std::chrono::milliseconds kLongestWait{500};

Status NotLoaded(const std::string& name) {
  return Status::NotFound("model '" + name + "' is not loaded");
}

/// Returns whether `path` lies below `directory`, and is not the directory itself.
bool IsBelow(const std::string& directory, const std::string& path) {
  return base::IsInside(directory, path) && !base::IsInside(path, directory);
}

std::string TokenOf(const std::string& name) {
  return base::HexText({reinterpret_cast<const uint8_t*>(name.data()), name.size()});
}

base::Result<std::string> NameOf(std::string_view token) {
  std::string name(token.size() / 2, '\0');
  if (!base::ParseHexText(token, {reinterpret_cast<uint8_t*>(name.data()), name.size()})) {
    return Status::InvalidArgument("next_page_token must be the nextPageToken of an earlier reply");
  }
  return name;
}

}  // namespace

SagemakerModels::SagemakerModels(api::InferenceService& service, api::ModelDirectories& directories,
                                 Options options)
    : service_(service), directories_(directories), options_(std::move(options)) {}

// A client may be hostile: it must not make the server load, and so execute, what lies anywhere on
// the machine, nor learn from errors what is there.
Status SagemakerModels::CheckUrl(const std::string& url) const {
  const bool is_path =
      url.starts_with('/') && url.size() <= kMaxUrlSize && url.find('\0') == std::string::npos;
  const bool may_load =
      is_path && std::any_of(options_.roots.begin(), options_.roots.end(),
                             [&](const std::string& root) { return IsBelow(root, url); });
  if (may_load) return Status::Ok();
  std::string roots;
  for (const std::string& root : options_.roots) {
    roots += (roots.empty() ? "'" : ", '") + root + "'";
  }
  return Status::InvalidArgument("the url of a model must be the path of a directory below " +
                                 roots);
}

bool SagemakerModels::IsServed(const std::string& name) const {
  return service_.FindModel(name, -1).ok();
}

Status SagemakerModels::Load(const Model& model, const std::function<bool()>& is_abandoned) {
  NEREID_RETURN_IF_ERROR(CheckUrl(model.url));
  std::string stale;
  NEREID_RETURN_IF_ERROR(BeginLoad(model, &stale));
  if (!stale.empty()) (void)directories_.Remove(stale);
  base::Result<std::string> added = Status::Internal("");
  try {
    added = AddAndLoad(model, is_abandoned);
  } catch (const std::exception&) {  // no memory
    EndLoad(model.name, added);
    throw;
  }
  EndLoad(model.name, added);
  return added.status();
}

Status SagemakerModels::BeginLoad(const Model& model, std::string* stale) {
  const Status exists = Status::AlreadyExists("model '" + model.name + "' is already loaded");
  if (IsServed(model.name)) return exists;
  base::MutexLock lock(mutex_);
  Entry fresh{model.url, {}, State::kLoading};
  Entry& entry = entries_.try_emplace(model.name, Entry{{}, {}, State::kLoaded}).first->second;
  if (entry.state != State::kLoaded) return exists;
  // A loaded model that is not served was unloaded through another front end.
  *stale = std::exchange(entry, std::move(fresh)).added;
  return Status::Ok();
}

base::Result<std::string> SagemakerModels::AddAndLoad(const Model& model,
                                                      const std::function<bool()>& is_abandoned) {
  NEREID_ASSIGN_OR_RETURN(std::string added, directories_.Add(model.url, model.name));
  const Status loaded = service_.LoadModel(model.name, {}, is_abandoned);
  if (loaded.ok()) return added;
  (void)directories_.Remove(added);
  return loaded;
}

void SagemakerModels::EndLoad(const std::string& name, const base::Result<std::string>& added) {
  base::MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  if (!added.ok()) {
    entries_.erase(entry);
    return;
  }
  entry->second.added = *added;
  entry->second.state = State::kLoaded;
}

Status SagemakerModels::Unload(const std::string& name, const std::function<bool()>& is_abandoned) {
  NEREID_ASSIGN_OR_RETURN(const std::string added, BeginUnload(name));
  Status unloaded = Status::Internal("");
  try {
    unloaded = service_.UnloadModel(name, /*unload_dependents=*/true);
    if (unloaded.ok()) WaitUntilGone(name, is_abandoned);
  } catch (const std::exception&) {  // no memory
    EndUnload(name, unloaded.ok());
    throw;
  }
  if (unloaded.ok()) (void)directories_.Remove(added);
  EndUnload(name, unloaded.ok());
  return unloaded;
}

base::Result<std::string> SagemakerModels::BeginUnload(const std::string& name) {
  base::MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end() || entry->second.state != State::kLoaded) return NotLoaded(name);
  std::string added = entry->second.added;
  entry->second.state = State::kUnloading;
  return added;
}

void SagemakerModels::EndUnload(const std::string& name, bool is_unloaded) {
  base::MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  if (is_unloaded) {
    entries_.erase(entry);
  } else {
    entry->second.state = State::kLoaded;
  }
}

bool SagemakerModels::IsUnloading(const std::string& name) const {
  const auto index = service_.GetRepositoryIndex(/*ready_only=*/false);
  return index.ok() && std::any_of(index->begin(), index->end(), [&](const auto& entry) {
           return entry.name == name && entry.state == "UNLOADING";
         });
}

void SagemakerModels::WaitUntilGone(const std::string& name,
                                    const std::function<bool()>& is_abandoned) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kMaxUnloadSeconds);
  for (auto wait = kFirstWait; IsUnloading(name); wait = std::min(2 * wait, kLongestWait)) {
    if (is_abandoned() || std::chrono::steady_clock::now() >= end) return;
    base::MutexLock lock(mutex_);
    if (is_stopping_) return;
    (void)stopped_.WaitFor(lock, wait);
  }
}

base::Result<SagemakerModels::Model> SagemakerModels::Find(const std::string& name) const {
  if (!IsServed(name)) return NotLoaded(name);
  base::MutexLock lock(mutex_);
  const auto entry = entries_.find(name);
  if (entry == entries_.end() || entry->second.state != State::kLoaded) return NotLoaded(name);
  return Model{name, entry->second.url};
}

base::Result<SagemakerModels::Page> SagemakerModels::List(std::string_view token) const {
  NEREID_ASSIGN_OR_RETURN(const std::string after, NameOf(token));
  std::vector<Model> loaded;
  {
    base::MutexLock lock(mutex_);
    for (auto entry = entries_.upper_bound(after); entry != entries_.end(); ++entry) {
      if (entry->second.state == State::kLoaded) {
        loaded.push_back({entry->first, entry->second.url});
      }
    }
  }
  Page page;
  for (Model& model : loaded) {
    if (!IsServed(model.name)) continue;
    if (page.models.size() == options_.page_size) {
      page.next_page_token = TokenOf(page.models.back().name);
      break;
    }
    page.models.push_back(std::move(model));
  }
  return page;
}

void SagemakerModels::Stop() {
  base::MutexLock lock(mutex_);
  is_stopping_ = true;
  stopped_.NotifyAll();
}

}  // namespace nereid::frontend::cloud
