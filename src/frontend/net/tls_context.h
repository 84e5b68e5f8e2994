// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/blocking_workers.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/shared_snapshot.h"
#include "frontend/net/tls_credentials.h"
#include "frontend/net/tls_settings.h"

namespace nereid::frontend::net {

/// The TLS of one server, which its event loops share: the current credentials, and the threads
/// that compute with the private key, so that no loop does. Thread-safe. It must outlive the loops.
class TlsContext {
 public:
  using RunOffLoop = std::function<bool(base::BlockingWorkers::Task)>;

  /// The maximum number of handshakes that have not begun because the threads are busy.
  static constexpr size_t kMaxNotBegun = 2048;
  static constexpr uint64_t kCheckIntervalNs = 1'000'000'000;

  /// Reads the files; see TlsCredentials::Load() for the errors. `run` (null: threads of its own)
  /// runs the steps of handshakes.
  static base::Result<std::shared_ptr<TlsContext>> Make(
      TlsSettings settings, const base::Clock& clock = base::SteadyClock(),
      RunOffLoop run = nullptr);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  const std::string& service() const { return settings_.service; }

  /// Returns the credentials for a new session. At most once a second it looks whether the files
  /// have changed, and reads them again. Files with a defect are not used: that is logged once for
  /// each change, and the earlier credentials stay. Blocks.
  std::shared_ptr<const TlsCredentials> Credentials();

  /// A handshake that is made in steps.
  class Handshake {
   public:
    /// Returns whether a step was made already.
    virtual bool has_begun() const = 0;
    /// Returns whether the next step is no longer wanted. Any thread may call it.
    virtual bool is_abandoned() const = 0;
    virtual void MakeStep(TlsContext& context) noexcept = 0;

   protected:
    ~Handshake() = default;
  };
  /// Has MakeStep() called soon on another thread, unless the handshake is abandoned meanwhile.
  /// Returns false if too many handshakes wait for their first step, or if there is no thread or no
  /// memory.
  bool Run(const std::shared_ptr<Handshake>& handshake) noexcept;

 private:
  TlsContext(TlsSettings settings, const base::Clock& clock,
             std::shared_ptr<const TlsCredentials> credentials,
             const TlsCredentials::Versions& versions, RunOffLoop run);
  void LookForChanges();

  const TlsSettings settings_;
  const base::Clock& clock_;
  base::SharedSnapshot<TlsCredentials> current_;
  std::atomic<uint64_t> next_check_ns_;
  base::Mutex mutex_;
  TlsCredentials::Versions versions_ NEREID_GUARDED_BY(mutex_);  // of the files that were read last
  std::atomic<size_t> not_begun_{0};
  base::BlockingWorkers workers_;
  const RunOffLoop run_;
};

}  // namespace nereid::frontend::net
