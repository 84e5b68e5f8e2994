// SPDX-License-Identifier: Apache-2.0
#include "redis/connection.h"

#include <array>
#include <string>
#include <vector>

namespace nereid::caches {

using backend::Error;

namespace {

/// The largest accepted reply, above any response. It limits the memory that a faulty Redis can
/// take.
constexpr size_t kMaxReplyBytes = size_t{2} << 30;
constexpr size_t kReadBytes = size_t{64} << 10;

}  // namespace

Error Connection::Open(const RedisSettings& settings, TlsContext* tls,
                       std::unique_ptr<Connection>* connection) {
  std::unique_ptr<Stream> stream;
  NEREID_BACKEND_TRY(Stream::Connect(settings, tls, &stream));
  redisReader* const reader = redisReaderCreate();
  if (reader == nullptr) return {TRITONSERVER_ERROR_UNAVAILABLE, "out of memory"};
  std::unique_ptr<Connection> made(new Connection(std::move(stream), reader));
  Reply reply;
  if (!settings.password.empty()) {
    std::vector<std::string_view> login = {"AUTH"};
    if (!settings.user.empty()) login.push_back(settings.user);
    login.push_back(settings.password);
    NEREID_BACKEND_TRY(made->Command(login, &reply));
  }
  if (settings.db != 0) {
    const std::string db = std::to_string(settings.db);
    NEREID_BACKEND_TRY(made->Command(std::array<std::string_view, 2>{"SELECT", db}, &reply));
  }
  NEREID_BACKEND_TRY(made->Command(std::array<std::string_view, 1>{"PING"}, &reply));
  *connection = std::move(made);
  return {};
}

Error Connection::Command(std::span<const std::string_view> words, Reply* reply) {
  std::vector<const char*> texts;
  std::vector<size_t> sizes;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  sds command = nullptr;
  const int size = redisFormatSdsCommandArgv(&command, static_cast<int>(words.size()), texts.data(),
                                             sizes.data());
  if (size < 0) return {TRITONSERVER_ERROR_UNAVAILABLE, "out of memory"};
  const std::unique_ptr<char, void (*)(sds)> owned(command, redisFreeSdsCommand);
  broken_ = true;  // until the reply has arrived
  NEREID_BACKEND_TRY(stream_->Write(command, sdslen(command)));
  NEREID_BACKEND_TRY(Receive(reply));
  broken_ = false;
  if ((*reply)->type == REDIS_REPLY_ERROR) {
    return Error::InvalidArgument("Redis: " + std::string((*reply)->str, (*reply)->len));
  }
  return {};
}

Error Connection::Receive(Reply* reply) {
  std::vector<char> bytes(kReadBytes);
  size_t total = 0;
  for (;;) {
    void* parsed = nullptr;
    if (redisReaderGetReply(reader_.get(), &parsed) != REDIS_OK) {
      return Error::Internal("what Redis sent is not understood: " + std::string(reader_->errstr));
    }
    if (parsed != nullptr) {
      reply->reset(static_cast<redisReply*>(parsed));
      return {};
    }
    size_t read = 0;
    NEREID_BACKEND_TRY(stream_->Read(bytes.data(), bytes.size(), &read));
    total += read;
    if (total > kMaxReplyBytes || redisReaderFeed(reader_.get(), bytes.data(), read) != REDIS_OK) {
      return Error::Internal("a reply of Redis is too large");
    }
  }
}

}  // namespace nereid::caches
