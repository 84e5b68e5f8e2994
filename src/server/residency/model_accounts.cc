// SPDX-License-Identifier: Apache-2.0
#include "server/residency/model_accounts.h"

#include <algorithm>

namespace nereid::server {

MemoryCharge::~MemoryCharge() { accounts_.Release(model_, version_, bytes_); }

ModelAccounts::Holding ModelAccounts::HoldingOf(const Account& account) {
  Holding holding;
  holding.bytes = account.bytes;
  for (const auto& [number, version] : account.versions) {
    holding.versions += version.living;
    if (version.living > 0) holding.expected_bytes += version.bytes;
  }
  return holding;
}

std::shared_ptr<const MemoryCharge> ModelAccounts::Charge(const std::string& model, int64_t version,
                                                          uint64_t measured, uint64_t least) {
  const base::MutexLock lock(mutex_);
  Account& account = accounts_[model];
  Version& charged = account.versions[version];
  charged.size.Add(measured);
  charged.bytes = std::max(charged.size.Median(), least);
  auto charge = std::make_shared<const MemoryCharge>(*this, model, version, charged.bytes);
  ++charged.living;
  account.bytes += charged.bytes;
  on_change_(model, HoldingOf(account));
  return charge;
}

void ModelAccounts::Release(const std::string& model, int64_t version, uint64_t bytes) {
  const base::MutexLock lock(mutex_);
  Account& account = accounts_[model];
  --account.versions[version].living;
  account.bytes -= bytes;
  on_change_(model, HoldingOf(account));
}

std::map<std::string, uint64_t> ModelAccounts::List() const {
  std::map<std::string, uint64_t> bytes;
  const base::MutexLock lock(mutex_);
  for (const auto& [model, account] : accounts_) {
    if (HoldingOf(account).versions > 0) bytes[model] = account.bytes;
  }
  return bytes;
}

}  // namespace nereid::server
