// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace nereid::repository::storage {

/// Credentials of one kind, and where they come from.
template <typename T>
struct Credential {
  T value = {};
  /// For messages: "of the environment variables …", "none (…)". No secret.
  std::string source = {};
  std::optional<uint64_t> expires_ms = std::nullopt;  // since the Unix epoch; none: never
};

/// Keeps the credentials that a function finds until they expire or are refused. Thread-safe; a
/// call may block for the time that the function takes.
template <typename T>
class CredentialCache {
 public:
  using Find = std::function<base::Result<Credential<T>>()>;

  /// Credentials with a number that changes when they do.
  struct Current {
    Credential<T> credential;
    uint64_t number = 0;
  };

  /// `clock` must outlive the object.
  CredentialCache(Find find, const base::Clock& clock) : find_(std::move(find)), clock_(clock) {}

  /// Returns the credentials; finds them again if they expire within two minutes. If that fails,
  /// the old ones are used for as long as they are valid.
  base::Result<Current> Get() {
    base::MutexLock lock(mutex_);
    if (current_ && !ExpiresWithin(kMarginMs)) return *current_;
    base::Result<Credential<T>> found = find_();
    if (found.ok()) {
      Replace(std::move(*found));
    } else if (!current_ || ExpiresWithin(0)) {
      return found.status();
    }
    return *current_;
  }

  /// Finds the credentials again after the store refused those with `number`. Returns whether there
  /// are others since.
  bool Renew(uint64_t number) {
    base::MutexLock lock(mutex_);
    if (!current_ || current_->number != number) return true;
    base::Result<Credential<T>> found = find_();
    return found.ok() && Replace(std::move(*found));
  }

 private:
  static constexpr uint64_t kMarginMs = 120'000;

  bool ExpiresWithin(uint64_t margin_ms) const NEREID_REQUIRES(mutex_) {
    const std::optional<uint64_t> expires_ms = current_->credential.expires_ms;
    return expires_ms && clock_.WallMs() + margin_ms >= *expires_ms;
  }

  /// Returns whether the new credentials differ from the old ones.
  bool Replace(Credential<T> found) NEREID_REQUIRES(mutex_) {
    const bool differs = !current_ || !(current_->credential.value == found.value);
    if (differs) ++number_;
    current_ = Current{std::move(found), number_};
    return differs;
  }

  const Find find_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  std::optional<Current> current_ NEREID_GUARDED_BY(mutex_);
  uint64_t number_ NEREID_GUARDED_BY(mutex_) = 0;
};

}  // namespace nereid::repository::storage
