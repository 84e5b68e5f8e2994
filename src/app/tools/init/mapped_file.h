// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::app::tools {

/// The bytes of a file, mapped into memory: the pages of a large model that nobody looks at are not
/// read. The file must not be truncated while it is mapped.
class MappedFile {
 public:
  /// Maps a regular file. Returns NOT_FOUND with the reason if that fails.
  static base::Result<std::shared_ptr<const MappedFile>> Open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile(const char* data, size_t size) : data_(data), size_(size) {}
  const char* data_;
  size_t size_;
};

}  // namespace nereid::app::tools
