// SPDX-License-Identifier: Apache-2.0
// Uses an object store from the command line, for the tests in this folder.
//
//     storage_probe list URL PREFIX all|level
//     storage_probe read URL KEY OFFSET SIZE [VERSION]
//
// `list` prints one JSON line for each entry, `read` the bytes. `read` takes the object from a
// list; VERSION replaces its version. SIZE may be "all". An error is printed to stderr as "CODE:
// message".
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/hex_text.h"
#include "base/json_writer.h"
#include "repository/storage/open_object_store.h"

namespace {

using nereid::base::JsonWriter;
using nereid::base::Result;
using nereid::base::Status;
using nereid::repository::storage::ObjectChecksum;
using nereid::repository::storage::ObjectInfo;
using nereid::repository::storage::ObjectPage;
using nereid::repository::storage::ObjectStore;
using nereid::repository::storage::OpenObjectStore;

Result<std::vector<ObjectPage>> ListAll(ObjectStore& store, const std::string& prefix,
                                        bool only_this_level) {
  std::vector<ObjectPage> pages;
  std::string token;
  do {
    NEREID_ASSIGN_OR_RETURN(ObjectPage page, store.List(prefix, only_this_level, token));
    token = page.next_page;
    pages.push_back(std::move(page));
  } while (!token.empty());
  return pages;
}

void Print(const ObjectInfo& object, size_t page) {
  std::string line;
  JsonWriter json(&line);
  json.BeginObject().Key("key").String(object.key).Key("size").Integer(object.size);
  json.Key("version").String(object.version).Key("page").Integer(page);
  if (object.checksum) {
    const std::string& bytes = object.checksum->bytes;
    json.Key(object.checksum->kind == ObjectChecksum::Kind::kMd5 ? "md5" : "crc32c")
        .String(
            nereid::base::HexText({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
  }
  json.EndObject();
  std::cout << line << "\n";
}

Status List(ObjectStore& store, const std::string& prefix, bool only_this_level) {
  NEREID_ASSIGN_OR_RETURN(const std::vector<ObjectPage> pages,
                          ListAll(store, prefix, only_this_level));
  for (size_t i = 0; i < pages.size(); ++i) {
    for (const ObjectInfo& object : pages[i].objects) Print(object, i);
    for (const std::string& directory : pages[i].directories) {
      std::string line;
      JsonWriter(&line).BeginObject().Key("directory").String(directory).EndObject();
      std::cout << line << "\n";
    }
  }
  return {};
}

Status Read(ObjectStore& store, const std::vector<std::string>& arguments) {
  const std::string& key = arguments[3];
  NEREID_ASSIGN_OR_RETURN(const std::vector<ObjectPage> pages, ListAll(store, key, false));
  for (const ObjectPage& page : pages) {
    for (ObjectInfo object : page.objects) {
      if (object.key != key) continue;
      if (arguments.size() > 6) object.version = arguments[6];
      const uint64_t offset = std::stoull(arguments[4]);
      const uint64_t size =
          arguments[5] == "all" ? object.size - offset : std::stoull(arguments[5]);
      return store.Read(
          object, offset, size,
          [](std::string_view piece) {
            std::cout.write(piece.data(), static_cast<std::streamsize>(piece.size()));
            return Status();
          },
          nullptr);
    }
  }
  return Status::NotFound("the list has no object '" + key + "'");
}

Status Run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 5) return Status::InvalidArgument("see storage_probe.cc for the use");
  NEREID_ASSIGN_OR_RETURN(const auto opened, OpenObjectStore(arguments[2]));
  if (arguments[1] == "list") return List(*opened.store, arguments[3], arguments[4] == "level");
  if (arguments.size() < 6) return Status::InvalidArgument("see storage_probe.cc for the use");
  return Read(*opened.store, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = Run({argv, argv + argc});
  if (status.ok()) return 0;
  std::cerr << status.ToString() << "\n";
  return 1;
}
