// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::app::tools {

/// Splits a stream of server-sent events (text/event-stream) into the data of its events. Only the
/// field "data" is used; its lines are joined by line ends.
class EventStream {
 public:
  /// Takes the next bytes and calls visit(data) for each event that is complete. Returns the error
  /// of `visit`, or INTERNAL for an event of more than 64 MiB.
  template <typename Visit>
  base::Status Take(std::string_view bytes, Visit&& visit) {
    for (const char c : bytes) {
      if (c == '\r') continue;
      if (c != '\n') {
        if (line_.size() + data_.size() == kMaxEventBytes) {
          return base::Status::Internal("an event of the server has more than 64 MiB");
        }
        line_ += c;
        continue;
      }
      if (line_.empty()) {
        std::string data = std::move(data_);
        data_.clear();
        if (!data.empty()) NEREID_RETURN_IF_ERROR(visit(std::string_view(data)));
      } else if (line_.starts_with("data:")) {
        if (!data_.empty()) data_ += '\n';
        data_.append(line_, line_.starts_with("data: ") ? 6 : 5);
      }
      line_.clear();
    }
    return {};
  }

 private:
  static constexpr size_t kMaxEventBytes = size_t{64} << 20;
  std::string line_;
  std::string data_;
};

}  // namespace nereid::app::tools
