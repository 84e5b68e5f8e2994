// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nereid/backend/error.h"
#include "triton/core/tritonserver.h"

namespace nereid::python {

/// The metrics that one worker has created, by numbers. They are deleted with the object. Used by
/// one thread.
class Metrics {
 public:
  Metrics() = default;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics() { Clear(); }

  /// Deletes all metrics and families.
  void Clear();

  /// `arguments`: the name, the description, and the number of the kind as text.
  backend::Error NewFamily(const std::vector<std::string_view>& arguments, uint64_t* number);
  backend::Error DeleteFamily(uint64_t number);
  /// `arguments`: the number of the family as text; the buckets as doubles after a byte, or an
  /// empty text if there are none; then the name and the value of each label.
  backend::Error New(const std::vector<std::string_view>& arguments, uint64_t* number);
  backend::Error Delete(uint64_t number);
  /// `operation`: "increment", "set" or "observe".
  backend::Error Change(uint64_t number, std::string_view operation, double value);
  backend::Error Value(uint64_t number, double* value);

 private:
  struct Family {
    TRITONSERVER_MetricFamily* family = nullptr;
  };
  struct Metric {
    TRITONSERVER_Metric* metric = nullptr;
    uint64_t family = 0;
  };

  backend::Error Find(uint64_t number, TRITONSERVER_Metric** metric) const;

  uint64_t last_ = 0;
  std::unordered_map<uint64_t, Family> families_;
  std::unordered_map<uint64_t, Metric> metrics_;
};

/// Reads a decimal number; 0 if the text is none.
uint64_t NumberOf(std::string_view text);

}  // namespace nereid::python
