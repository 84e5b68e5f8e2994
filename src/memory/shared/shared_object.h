// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace nereid::memory {

/// The sizes of a shared-memory object at one moment.
struct ObjectSize {
  uint64_t bytes = 0;
  /// How many bytes have memory; the rest was never written and takes none.
  uint64_t stored_bytes = 0;
};

/// An open shared-memory object: a file below /dev/shm, or a memfd that has no name. Move-only.
class SharedObject {
 public:
  /// Opens the object with this key, for reading and writing, as shm_open does: leading slashes of
  /// the key are ignored. Returns INVALID_ARGUMENT for a key that is not the name of one file or is
  /// reserved for Triton's Python backend, and INTERNAL, with Triton's text, if there is no regular
  /// file with this name that the server may open. `region` is the region's name, for the messages.
  static base::Result<SharedObject> Open(std::string_view region, const std::string& key);

  /// Takes over a descriptor that a client has sent, in any case. Returns INVALID_ARGUMENT unless
  /// it is a regular file in memory (memfd_create, shm_open) that is open for reading and writing:
  /// a file on another file system could hold the threads that use its pages.
  static base::Result<SharedObject> Adopt(std::string_view region, int file);

  SharedObject(SharedObject&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  SharedObject& operator=(SharedObject&&) = delete;
  ~SharedObject();

  /// Returns the present sizes. They are zero if the system cannot tell.
  ObjectSize Size() const;
  int file() const { return file_; }

 private:
  explicit SharedObject(int file) : file_(file) {}
  int file_;
};

}  // namespace nereid::memory
