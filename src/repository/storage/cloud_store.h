// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "curl/http_client.h"
#include "repository/storage/object_store.h"
#include "repository/storage/store_protocol.h"

namespace nereid::repository::storage {

/// An object store over HTTP: sends the requests of a protocol, checks the responses and turns
/// failures into ObjectStore's errors.
class CloudStore final : public ObjectStore {
 public:
  CloudStore(std::shared_ptr<curl::HttpClient> http, std::unique_ptr<StoreProtocol> protocol)
      : http_(std::move(http)), protocol_(std::move(protocol)) {}

  base::Result<ObjectPage> List(const std::string& prefix, bool only_this_level,
                                const std::string& page) override;
  base::Status Read(const ObjectInfo& object, uint64_t offset, uint64_t size, const Sink& sink,
                    const std::function<bool()>& is_cancelled) override;

 private:
  struct Call;
  base::Result<curl::HttpResponse> Send(const Call& call);

  const std::shared_ptr<curl::HttpClient> http_;
  const std::unique_ptr<StoreProtocol> protocol_;
};

}  // namespace nereid::repository::storage
