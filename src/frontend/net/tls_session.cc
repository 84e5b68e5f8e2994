// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

namespace nereid::frontend::net {
namespace {

using State = ByteStream::State;

/// The content of a full record (RFC 8446, section 5.1).
constexpr size_t kRecord = 16384;
/// How much Read() may take from the stream beyond the size of its buffer: the heads of records,
/// and a record that does not fit.
constexpr size_t kMoreThanAsked = size_t{64} << 10;

struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, FreeCertificate>;

std::string SubjectOf(X509* certificate) {
  BIO* const text = BIO_new(BIO_s_mem());
  if (text == nullptr) throw std::bad_alloc();
  X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* data = nullptr;
  const long size = BIO_get_mem_data(text, &data);
  std::string subject(data, size > 0 ? static_cast<size_t>(size) : 0);
  BIO_free(text);
  return subject;
}

/// Called by OpenSSL for each message of a handshake, also of those after the first one.
void OnMessage(const SSL* session, int where, int) {
  if ((where & SSL_CB_LOOP) != 0) {
    static_cast<TlsWire*>(SSL_get_app_data(session))->CountExtraWork();
  }
}

}  // namespace

void TlsSession::FreeSession::operator()(SSL* session) const { SSL_free(session); }

TlsSession::TlsSession(std::shared_ptr<const TlsCredentials> credentials)
    : credentials_(std::move(credentials)), session_(credentials_->NewSession()) {
  BIO* const bio = wire_.NewBio();
  if (session_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    ERR_clear_error();
    throw std::bad_alloc();
  }
  SSL_set_bio(session_.get(), bio, bio);
  SSL_set_accept_state(session_.get());
}

TlsSession::~TlsSession() = default;

void TlsSession::Feed(std::string_view encrypted) { wire_.Feed(encrypted); }

TlsSession::Progress TlsSession::Handshake(std::string* output, std::string* failure) noexcept {
  const TlsWire::Use use(wire_, output);
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  try {
    if (result == 1) return Finish(failure);
    if (SSL_get_error(session_.get(), result) == SSL_ERROR_WANT_READ) return Progress::kWaits;
    has_failed_ = true;
    const long verified = SSL_get_verify_result(session_.get());
    *failure = TlsErrorText();
    if (verified != X509_V_OK) {
      failure->append(": ").append(X509_verify_cert_error_string(verified));
    }
  } catch (const std::exception& error) {
    has_failed_ = true;  // and there is no memory for the reason
  }
  return Progress::kFailed;
}

/// Begins to count the messages that are none of the first handshake, and learns who the client is.
/// A session that is resumed has the certificate of the first one, which OpenSSL does not verify
/// again: the client must not extend its life by resuming.
TlsSession::Progress TlsSession::Finish(std::string* failure) {
  SSL_set_app_data(session_.get(), &wire_);
  SSL_set_info_callback(session_.get(), OnMessage);
  const Certificate certificate(SSL_get1_peer_certificate(session_.get()));
  if (certificate == nullptr) return Progress::kDone;
  if (SSL_session_reused(session_.get()) == 1 &&
      X509_cmp_current_time(X509_get0_notAfter(certificate.get())) < 0) {
    has_failed_ = true;
    *failure = "the certificate of a resumed session has expired";
    return Progress::kFailed;
  }
  client_subject_ = SubjectOf(certificate.get());
  return Progress::kDone;
}

void TlsSession::BeginTurn() {
  records_left_ = kRecordsPerTurn;
  wire_.BeginTurn();
}

ByteStream::Outcome TlsSession::Read(ByteStream& source, std::span<char> to,
                                     std::string* output) noexcept {
  if (has_failed_) return {0, State::kLost};
  if (has_ended_) return {0, State::kEnded};
  const TlsWire::Use use(wire_, output, &source, to.size() + kMoreThanAsked);
  SSL* const session = session_.get();
  size_t size = 0;
  ERR_clear_error();
  while (size < to.size()) {
    if (is_resting()) return {size, size == 0 ? State::kBlocked : State::kOpen};
    --records_left_;
    size_t got = 0;
    if (SSL_read_ex(session, to.data() + size, to.size() - size, &got) != 1) {
      return AfterFailedRead(size, SSL_get_error(session, 0));
    }
    size += got;
    // OpenSSL need not be asked whether there is more.
    if (wire_.source_is_empty() && SSL_has_pending(session) == 0) return {size, State::kBlocked};
  }
  return {size, State::kOpen};
}

ByteStream::Outcome TlsSession::AfterFailedRead(size_t size, int error) {
  State state = State::kBlocked;
  switch (error) {
    case SSL_ERROR_WANT_READ:
      // At the end of the budget there may be more.
      if (size != 0 && !wire_.source_is_empty()) state = State::kOpen;
      break;
    case SSL_ERROR_ZERO_RETURN:
      has_ended_ = true;
      state = State::kEnded;
      break;
    default:
      has_failed_ = true;
      ERR_clear_error();
      state = State::kLost;
  }
  if (size != 0 && state != State::kBlocked) state = State::kOpen;  // the rest is told next time
  return {size, state};
}

bool TlsSession::HasUnread() const {
  return is_resting() || has_failed_ || has_ended_ || wire_.has_input() ||
         SSL_has_pending(session_.get()) == 1;
}

size_t TlsSession::Write(std::span<const iovec> pieces, size_t max, std::string* output) noexcept {
  const TlsWire::Use use(wire_, output);
  char record[kRecord];  // where small pieces are put together
  size_t filled = 0;
  size_t total = 0;
  ERR_clear_error();
  for (const iovec& piece : pieces) {
    const char* data = static_cast<const char*>(piece.iov_base);
    size_t left = std::min(piece.iov_len, max - total);
    total += left;
    while (left != 0) {
      size_t step = left - left % kRecord;
      if (filled == 0 && step != 0) {
        if (!Encrypt(data, step)) return 0;
      } else {
        step = std::min(left, kRecord - filled);
        std::memcpy(record + filled, data, step);
        filled += step;
        if (filled == kRecord) {
          if (!Encrypt(record, filled)) return 0;
          filled = 0;
        }
      }
      data += step;
      left -= step;
    }
  }
  if (filled != 0 && !Encrypt(record, filled)) return 0;
  return total;
}

/// The wire takes everything, so a failure is final.
bool TlsSession::Encrypt(const char* data, size_t size) {
  size_t written = 0;
  if (!has_failed_ && SSL_write_ex(session_.get(), data, size, &written) == 1) return true;
  has_failed_ = true;
  ERR_clear_error();
  return false;
}

void TlsSession::EndOutput(std::string* output) noexcept {
  if (has_failed_ || (SSL_get_shutdown(session_.get()) & SSL_SENT_SHUTDOWN) != 0) return;
  const TlsWire::Use use(wire_, output);
  SSL_shutdown(session_.get());
  ERR_clear_error();
}

}  // namespace nereid::frontend::net
