// SPDX-License-Identifier: Apache-2.0
#include "server/model_storage.h"

#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "repository/mirror/cache_location.h"
#include "repository/storage/open_object_store.h"

namespace nereid::server {

using repository::RemoteStorage;
namespace mirror = repository::mirror;

namespace {

base::Result<std::unique_ptr<mirror::ModelMirror>> OpenMirror(
    const std::string& directory, uint64_t max_bytes, const std::set<std::string>& repositories,
    const std::shared_ptr<repository::LoadGate>& gate) {
  NEREID_ASSIGN_OR_RETURN(const std::string prepared,
                          mirror::PrepareCacheDirectory(directory, repositories, [](const char* v) {
                            return std::getenv(v);
                          }));
  NEREID_ASSIGN_OR_RETURN(auto cache, mirror::BlobCache::Open({prepared, max_bytes}));
  mirror::ModelMirror::Options options;
  options.is_cancelled = [gate] { return gate->IsClosed(); };
  return std::make_unique<mirror::ModelMirror>(std::move(cache), std::move(options));
}

}  // namespace

ModelStorage MakeModelStorage(const ServerSettings& settings) {
  ModelStorage storage;
  storage.gate =
      settings.load_gate != nullptr ? settings.load_gate : std::make_shared<repository::LoadGate>();
  storage.remote = std::make_shared<RemoteStorage>(
      [](const std::string& url) { return repository::storage::OpenObjectStore(url); },
      [directory = settings.model_cache_directory, size = settings.model_cache_size,
       repositories = settings.model_repository_paths,
       gate = storage.gate] { return OpenMirror(directory, size, repositories, gate); });
  storage.all = std::make_shared<repository::MixedStorage>(
      repository::LocalStorage(/*counts_change_times=*/settings.repository_settle_secs > 0),
      storage.remote);
  return storage;
}

}  // namespace nereid::server
