// SPDX-License-Identifier: Apache-2.0
// The Redis cache. An entry is a Redis hash whose key the server provides. It
// has four fields for each buffer n, as in Triton's Redis cache:
//
//   n:b bytes   n:s size in decimal   n:t memory type (0 = CPU)   n:i memory type id
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache_plugin.h"
#include "entry_buffers.h"
#include "nereid/backend/error.h"
#include "redis/redis_client.h"
#include "triton/core/tritoncache.h"

namespace nereid::caches {
namespace {

using backend::Error;

std::string_view TextOf(const redisReply* reply) { return {reply->str, reply->len}; }

/// The fields of a hash: views of the reply.
using Fields = std::map<std::string_view, std::string_view>;

Error ReadFields(const Reply& reply, Fields* fields) {
  const auto is_text = [](const redisReply* element) {
    return element->type == REDIS_REPLY_STRING;
  };
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements % 2 != 0) {
    return Error::Internal("Redis did not reply with the fields of a hash");
  }
  for (size_t i = 0; i < reply->elements; i += 2) {
    const redisReply* const name = reply->element[i];
    const redisReply* const value = reply->element[i + 1];
    if (!is_text(name) || !is_text(value)) {
      return Error::Internal("Redis did not reply with the fields of a hash");
    }
    fields->emplace(TextOf(name), TextOf(value));
  }
  return {};
}

Error FindField(const Fields& fields, const std::string& name, std::string_view* value) {
  const auto found = fields.find(name);
  if (found == fields.end()) {
    return Error::Internal("the entry in Redis has no field '" + name + "'");
  }
  *value = found->second;
  return {};
}

/// Adds buffer `index` of the stored hash to the server's entry.
Error AddBuffer(const Fields& fields, size_t index, TRITONCACHE_CacheEntry* entry,
                BufferDescription& description) {
  const std::string prefix = std::to_string(index) + ":";
  std::string_view bytes, size, type, id;
  NEREID_BACKEND_TRY(FindField(fields, prefix + "b", &bytes));
  NEREID_BACKEND_TRY(FindField(fields, prefix + "s", &size));
  NEREID_BACKEND_TRY(FindField(fields, prefix + "t", &type));
  NEREID_BACKEND_TRY(FindField(fields, prefix + "i", &id));
  if (size != std::to_string(bytes.size()) || type != "0") {
    return Error::Internal("buffer " + std::to_string(index) +
                           " of the entry in Redis contradicts its description");
  }
  NEREID_BACKEND_TRY(description.SetHostBytes(bytes.size()));
  // The C function takes a pointer to non-const memory, but the server only reads it.
  return Error(
      TRITONCACHE_CacheEntryAddBuffer(entry, const_cast<char*>(bytes.data()), description.get()));
}

class RedisCache {
 public:
  static Error Create(const char* config, std::unique_ptr<RedisCache>* cache) {
    RedisSettings settings;
    NEREID_BACKEND_TRY(ReadRedisSettings(config, std::getenv, &settings));
    std::unique_ptr<RedisClient> client;
    NEREID_BACKEND_TRY(RedisClient::Create(std::move(settings), &client));
    *cache = std::make_unique<RedisCache>(std::move(client));
    return {};
  }

  explicit RedisCache(std::unique_ptr<RedisClient> client) : client_(std::move(client)) {}

  Error Lookup(std::string_view key, TRITONCACHE_CacheEntry* entry,
               TRITONCACHE_Allocator* allocator) {
    const std::string_view command[] = {"HGETALL", key};
    Reply reply;
    NEREID_BACKEND_TRY(client_->Run(command, &reply));
    Fields fields;
    NEREID_BACKEND_TRY(ReadFields(reply, &fields));
    if (fields.empty()) {
      return {TRITONSERVER_ERROR_NOT_FOUND, "key '" + std::string(key) + "' is not in Redis"};
    }
    BufferDescription description;
    NEREID_BACKEND_TRY(description.Make());
    const size_t buffers = std::max<size_t>(1, fields.size() / 4);
    for (size_t i = 0; i < buffers; ++i) {
      NEREID_BACKEND_TRY(AddBuffer(fields, i, entry, description));
    }
    // `reply` owns the bytes until the copy is made.
    return Error(TRITONCACHE_Copy(allocator, entry));
  }

  Error Insert(std::string_view key, TRITONCACHE_CacheEntry* entry,
               TRITONCACHE_Allocator* allocator) {
    StoredBuffers buffers;
    uint64_t bytes = 0;
    NEREID_BACKEND_TRY(ReadSizes(entry, &buffers, &bytes));
    NEREID_BACKEND_TRY(FillBuffers(entry, allocator, &buffers));
    // Own the text that `command` refers to; reserved, so that it never moves.
    std::vector<std::string> names, sizes;
    names.reserve(4 * buffers.size());
    sizes.reserve(buffers.size());
    std::vector<std::string_view> command = {"HMSET", key};
    const auto add = [&](size_t index, const char* field, std::string_view value) {
      command.push_back(names.emplace_back(std::to_string(index) + field));
      command.push_back(value);
    };
    for (size_t i = 0; i < buffers.size(); ++i) {
      add(i, ":b", {buffers[i].data.get(), buffers[i].size});
      add(i, ":s", sizes.emplace_back(std::to_string(buffers[i].size)));
      add(i, ":t", "0");
      add(i, ":i", "0");
    }
    Reply reply;
    return client_->Run(command, &reply);
  }

 private:
  const std::unique_ptr<RedisClient> client_;
};

}  // namespace
}  // namespace nereid::caches

NEREID_CACHE_PLUGIN(nereid::caches::RedisCache);
