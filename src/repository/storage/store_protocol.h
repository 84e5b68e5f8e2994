// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "curl/http_message.h"
#include "repository/storage/object_store.h"
#include "repository/storage/service_error.h"

namespace nereid::repository::storage {

/// A request that is ready to be sent, with the credentials that it has.
struct PreparedRequest {
  curl::HttpRequest http;
  std::string credentials;         // their source, for messages
  uint64_t credential_number = 0;  // of CredentialCache
};

/// What the three providers do differently: requests, signatures and the form of the responses.
/// Thread-safe.
class StoreProtocol {
 public:
  virtual ~StoreProtocol() = default;

  /// Returns the request for a page of a list; the parameters are those of ObjectStore::List.
  virtual base::Result<PreparedRequest> ListRequest(const std::string& prefix, bool only_this_level,
                                                    const std::string& page) = 0;
  /// Returns the request for a part of exactly this version of an object.
  virtual base::Result<PreparedRequest> ReadRequest(const ObjectInfo& object,
                                                    const curl::ByteRange& range) = 0;

  virtual base::Result<ObjectPage> ParseList(const std::string& body) = 0;
  virtual ServiceError ParseError(const curl::HttpResponse& response) = 0;

  /// Returns the version that a response to a ReadRequest has; empty if it does not say.
  virtual std::string VersionOf(const curl::HttpResponse& response) = 0;
  /// Returns an error if the object is not to be read as it was listed.
  virtual base::Status CheckObject(const ObjectInfo& object, const curl::HttpResponse& head) {
    (void)object, (void)head;
    return {};
  }

  /// Learns from a response that is an error: another region, other credentials. Returns whether
  /// the request should be made again.
  virtual bool Recover(const PreparedRequest& request, const curl::HttpResponse& response,
                       const ServiceError& error) = 0;

  /// For messages: the bucket's URL without secrets, and what its credentials must permit.
  virtual std::string name() const = 0;
  virtual std::string permissions() const = 0;
};

}  // namespace nereid::repository::storage
