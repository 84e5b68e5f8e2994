// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "request/model_identity.h"

namespace nereid::request {

class ResponseSink;

/// The sink, the model and the id of the request that a response answers. The base of
/// ResponseFactory, which every response keeps alive. A class of its own, so that InferenceResponse
/// does not depend on ResponseFactory.
class ResponseOrigin {
 public:
  ResponseOrigin(const ResponseOrigin&) = delete;
  ResponseOrigin& operator=(const ResponseOrigin&) = delete;

  ResponseSink& sink() { return *sink_; }
  const std::shared_ptr<ResponseSink>& shared_sink() const { return sink_; }
  const ModelIdentity& model() const { return *model_; }
  const std::string& id() const { return id_; }

 protected:
  ResponseOrigin(std::shared_ptr<ResponseSink> sink, std::shared_ptr<const ModelIdentity> model,
                 std::string id)
      : sink_(std::move(sink)), model_(std::move(model)), id_(std::move(id)) {}
  ~ResponseOrigin() = default;  // not virtual: only a ResponseFactory is destroyed

  std::shared_ptr<ResponseSink> sink_;
  std::shared_ptr<const ModelIdentity> model_;
  std::string id_;
};

}  // namespace nereid::request
