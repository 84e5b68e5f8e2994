// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_handshake.h"

#include <exception>
#include <utility>

namespace nereid::frontend::net {
namespace {

/// The head of a record (RFC 8446, section 5.1): type, version (2 bytes), length (2 bytes).
constexpr size_t kRecordHead = 5;
constexpr char kHandshakeType = 22;
constexpr char kMajorVersion = 3;
constexpr size_t kMaxRecord = 16384;  // of a record that is not encrypted

size_t LengthAt(std::string_view record) {
  return static_cast<size_t>(static_cast<unsigned char>(record[3])) << 8 |
         static_cast<unsigned char>(record[4]);
}

}  // namespace

TlsHandshake::Input TlsHandshake::Add(std::string_view bytes) {
  if (is_running_) {
    later_.append(bytes);
    return Input::kLater;
  }
  input_.append(bytes);
  if (has_begun()) return Input::kReady;
  if (input_[0] != kHandshakeType || (input_.size() > 1 && input_[1] != kMajorVersion)) {
    return Input::kNotTls;
  }
  if (input_.size() < kRecordHead) return Input::kIncomplete;
  const size_t length = LengthAt(input_);
  if (length > kMaxRecord) return Input::kNotTls;
  return input_.size() < kRecordHead + length ? Input::kIncomplete : Input::kReady;
}

bool TlsHandshake::Start(TlsContext& context) noexcept {
  is_running_ = true;
  if (context.Run(shared_from_this())) return true;
  is_running_ = false;
  return false;
}

void TlsHandshake::MakeStep(TlsContext& context) noexcept {
  try {
    if (session_ == nullptr) session_ = std::make_unique<TlsSession>(context.Credentials());
    session_->Feed(input_);
    input_ = std::string();
    progress_ = session_->Handshake(&output_, &failure_);
  } catch (const std::exception&) {
    progress_ = TlsSession::Progress::kFailed;  // memory has run out
  }
  inbox_->Post(step_end_, shared_from_this());
}

void TlsHandshake::OnStepEnd() {
  is_running_ = false;
  if (host_ == nullptr) return;
  try {
    input_ = std::exchange(later_, {});
    if (progress_ == TlsSession::Progress::kDone && has_input()) session_->Feed(input_);
  } catch (const std::exception&) {
    progress_ = TlsSession::Progress::kFailed;  // memory has run out
  }
  host_->OnHandshakeStep();
}

}  // namespace nereid::frontend::net
