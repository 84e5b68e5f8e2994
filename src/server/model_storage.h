// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "repository/load_gate.h"
#include "repository/remote_storage.h"
#include "repository/repository_storage.h"
#include "server/server_settings.h"

namespace nereid::server {

/// The storages of a server's model repositories.
struct ModelStorage {
  std::shared_ptr<repository::LoadGate> gate;  // ends downloads when it is closed; never null
  std::shared_ptr<repository::RemoteStorage> remote;
  std::shared_ptr<repository::RepositoryStorage> all;  // local directories and `remote`
};

/// Makes the storages. Nothing is opened before its first use.
ModelStorage MakeModelStorage(const ServerSettings& settings);

}  // namespace nereid::server
