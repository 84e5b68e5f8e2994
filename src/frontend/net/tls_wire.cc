// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/tls_wire.h"

#include <openssl/bio.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace nereid::frontend::net {
namespace {

TlsWire& WireOf(BIO* bio) { return *static_cast<TlsWire*>(BIO_get_data(bio)); }

int ReadWire(BIO* bio, char* data, size_t size, size_t* got) {
  BIO_clear_retry_flags(bio);
  const ByteStream::Outcome read = WireOf(bio).Read({data, size});
  *got = read.size;
  if (read.size != 0) return 1;
  if (read.state == ByteStream::State::kBlocked) BIO_set_retry_read(bio);
  return 0;
}

int WriteWire(BIO* bio, const char* data, size_t size, size_t* written) {
  BIO_clear_retry_flags(bio);
  *written = size;
  return WireOf(bio).Write({data, size}) ? 1 : 0;
}

long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int Create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

BIO_METHOD* MakeMethod() {
  BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "nereid");
  if (method == nullptr) return nullptr;
  BIO_meth_set_read_ex(method, ReadWire);
  BIO_meth_set_write_ex(method, WriteWire);
  BIO_meth_set_ctrl(method, Control);
  BIO_meth_set_create(method, Create);
  return method;
}

}  // namespace

BIO* TlsWire::NewBio() {
  static BIO_METHOD* const method = MakeMethod();
  BIO* const bio = method == nullptr ? nullptr : BIO_new(method);
  if (bio != nullptr) BIO_set_data(bio, this);
  return bio;
}

void TlsWire::Feed(std::string_view encrypted) {
  if (!has_input()) {
    input_.clear();
    taken_ = 0;
  }
  input_.append(encrypted);
}

ByteStream::Outcome TlsWire::Read(std::span<char> to) {
  if (is_broken_) return {0, ByteStream::State::kLost};
  if (has_input()) {
    const size_t size = std::min(to.size(), input_.size() - taken_);
    std::memcpy(to.data(), input_.data() + taken_, size);
    taken_ += size;
    if (!has_input()) {
      input_ = std::string();
      taken_ = 0;
    }
    return {size, ByteStream::State::kOpen};
  }
  if (source_ == nullptr || source_is_empty_ || budget_ == 0) {
    return {0, ByteStream::State::kBlocked};
  }
  const ByteStream::Outcome got = source_->Read(to);
  budget_ -= std::min(budget_, got.size);
  source_is_empty_ = got.state == ByteStream::State::kBlocked;
  return got;
}

bool TlsWire::Write(std::string_view encrypted) {
  if (source_ != nullptr) CountExtraWork();  // an answer of OpenSSL's own
  if (is_broken_ || output_ == nullptr) return false;
  try {
    output_->append(encrypted);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

TlsWire::Use::Use(TlsWire& wire, std::string* output, ByteStream* source, size_t budget)
    : wire_(wire) {
  wire_.output_ = output;
  wire_.source_ = source;
  wire_.budget_ = budget;
  wire_.source_is_empty_ = false;
}

TlsWire::Use::~Use() {
  wire_.output_ = nullptr;
  wire_.source_ = nullptr;
}

}  // namespace nereid::frontend::net
