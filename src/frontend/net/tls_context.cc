// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_context.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/cpus.h"
#include "base/log.h"

namespace nereid::frontend::net {
namespace {

/// Half of the CPUs, so that a flood of handshakes leaves the others for requests.
size_t ThreadCount() {
  return static_cast<size_t>(std::clamp(base::AvailableCpuCount() / 2, 1, 4));
}

}  // namespace

base::Result<std::shared_ptr<TlsContext>> TlsContext::Make(TlsSettings settings,
                                                           const base::Clock& clock,
                                                           RunOffLoop run) {
  const TlsCredentials::Versions versions = TlsCredentials::VersionsOf(settings.files);
  NEREID_ASSIGN_OR_RETURN(auto credentials, TlsCredentials::Load(settings));
  return std::shared_ptr<TlsContext>(
      new TlsContext(std::move(settings), clock, std::move(credentials), versions, std::move(run)));
}

TlsContext::TlsContext(TlsSettings settings, const base::Clock& clock,
                       std::shared_ptr<const TlsCredentials> credentials,
                       const TlsCredentials::Versions& versions, RunOffLoop run)
    : settings_(std::move(settings)),
      clock_(clock),
      current_(std::move(credentials)),
      next_check_ns_(clock.NowNs() + kCheckIntervalNs),
      versions_(versions),
      workers_("tls", ThreadCount(), SIZE_MAX, base::PoolWork::kMostlyComputes),
      run_(run != nullptr ? std::move(run) : [this](base::BlockingWorkers::Task task) {
        return workers_.Run(std::move(task));
      }) {}

// The steps that have not begun are dropped; the others use this object.
TlsContext::~TlsContext() { workers_.Stop(); }

std::shared_ptr<const TlsCredentials> TlsContext::Credentials() {
  const uint64_t now_ns = clock_.NowNs();
  uint64_t next_ns = next_check_ns_.load(std::memory_order_relaxed);
  if (now_ns >= next_ns &&
      next_check_ns_.compare_exchange_strong(next_ns, now_ns + kCheckIntervalNs)) {
    LookForChanges();
  }
  return current_.Load();
}

// The versions are taken before the files are read: a change in between is seen the next time.
void TlsContext::LookForChanges() {
  const base::MutexLock lock(mutex_);
  const TlsCredentials::Versions versions = TlsCredentials::VersionsOf(settings_.files);
  if (versions == versions_) return;
  versions_ = versions;
  base::Result<std::shared_ptr<const TlsCredentials>> credentials = TlsCredentials::Load(settings_);
  if (!credentials.ok()) {
    LOG_ERROR << settings_.service << ": the certificate files have changed and cannot be used; "
              << "the earlier certificate stays in use: " << credentials.status().message();
    return;
  }
  current_.Store(std::move(credentials).value());
  LOG_INFO << settings_.service << ": new connections use the changed certificate files";
}

bool TlsContext::Run(const std::shared_ptr<Handshake>& handshake) noexcept {
  const bool is_first = !handshake->has_begun();
  if (is_first && not_begun_.fetch_add(1, std::memory_order_relaxed) >= kMaxNotBegun) {
    not_begun_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  const auto begin = [this, is_first] {
    if (is_first) not_begun_.fetch_sub(1, std::memory_order_relaxed);
  };
  try {
    if (run_({.run =
                  [this, begin, handshake] {
                    begin();
                    handshake->MakeStep(*this);
                  },
              .is_abandoned = [handshake] { return handshake->is_abandoned(); },
              .drop = begin})) {
      return true;
    }
  } catch (const std::exception&) {
    // There is no memory for the task.
  }
  begin();
  return false;
}

}  // namespace nereid::frontend::net
