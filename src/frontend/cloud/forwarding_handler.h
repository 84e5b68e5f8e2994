// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "frontend/http/http_handler.h"
#include "frontend/http/kserve_handler.h"

namespace nereid::frontend::cloud {

/// The common part of the clouds' handlers: they have paths of their own, and forward most of them
/// to the KServe handler.
class ForwardingHandler : public http::HttpHandler {
 public:
  bool MakeInferenceReply(http::Exchange& exchange,
                          std::unique_ptr<request::InferenceResponse> response, int count) override;
  bool WantsTimes() const override { return kserve_->WantsTimes(); }
  void FreeElsewhere(std::shared_ptr<void> owner) override;
  void Stop() override { kserve_->Stop(); }

 protected:
  explicit ForwardingHandler(std::shared_ptr<http::KserveRoutes> kserve);

  http::KserveRoutes& kserve() { return *kserve_; }
  /// Replies to a path that is not served. `service` is Triton's word for the front end.
  static void RefusePath(http::Exchange& exchange, std::string_view service);

 private:
  const std::shared_ptr<http::KserveRoutes> kserve_;
};

}  // namespace nereid::frontend::cloud
