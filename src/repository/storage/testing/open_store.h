// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "repository/storage/open_object_store.h"
#include "repository/storage/testing/fake_context.h"

namespace nereid::repository::storage::testing {

/// Opens a store on a fake network.
inline std::unique_ptr<ObjectStore> Open(FakeContext& context, const std::string& url) {
  auto opened = OpenObjectStore(url, context.Get());
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  return opened.ok() ? std::move(opened->store) : nullptr;
}

/// Reads a part of an object into `content`, which keeps what arrived before an error.
inline base::Status ReadInto(ObjectStore& store, const ObjectInfo& object, uint64_t offset,
                             uint64_t size, std::string* content) {
  return store.Read(
      object, offset, size,
      [content](std::string_view piece) {
        content->append(piece);
        return base::Status();
      },
      nullptr);
}

}  // namespace nereid::repository::storage::testing
