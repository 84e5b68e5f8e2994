// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "server/residency/memory_meter.h"

namespace nereid::server {

class ModelAccounts;

/// The memory of one model version, from after its load until it is destroyed.
class MemoryCharge {
 public:
  MemoryCharge(ModelAccounts& accounts, std::string model, int64_t version, uint64_t bytes)
      : accounts_(accounts), model_(std::move(model)), version_(version), bytes_(bytes) {}
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;
  ~MemoryCharge();

  uint64_t bytes() const { return bytes_; }

 private:
  ModelAccounts& accounts_;
  const std::string model_;
  const int64_t version_;
  const uint64_t bytes_;
};

/// The memory of all model versions that exist, by model. Thread-safe.
class ModelAccounts {
 public:
  struct Holding {
    uint64_t bytes = 0;
    size_t versions = 0;          // that exist, serving or not
    uint64_t expected_bytes = 0;  // of the next load
  };
  /// Called in the order of the changes, with the lock of the accounts held. Must not call them.
  using OnChange = std::function<void(const std::string& model, const Holding& holding)>;

  explicit ModelAccounts(OnChange on_change, MemoryMeter::ReadMemory read = {})
      : on_change_(std::move(on_change)), meter_(std::move(read)) {}

  /// See MemoryMeter::Measure.
  uint64_t Measure(const std::function<void()>& load) { return meter_.Measure(load); }

  /// Counts a version that was loaded. `measured` is the result of Measure, `least` what the
  /// version occupies at least: the size of its files, and what its backend reports.
  std::shared_ptr<const MemoryCharge> Charge(const std::string& model, int64_t version,
                                             uint64_t measured, uint64_t least);

  /// Returns the bytes of each model that has a version.
  std::map<std::string, uint64_t> List() const;

 private:
  friend class MemoryCharge;
  struct Version {
    SizeEstimate size;
    uint64_t bytes = 0;  // of its last load
    size_t living = 0;   // how many of its loads are not destroyed
  };
  struct Account {
    uint64_t bytes = 0;
    std::map<int64_t, Version> versions;  // also those that do not exist
  };

  static Holding HoldingOf(const Account& account);
  void Release(const std::string& model, int64_t version, uint64_t bytes);

  const OnChange on_change_;
  MemoryMeter meter_;
  mutable base::Mutex mutex_;
  std::map<std::string, Account> accounts_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::server
