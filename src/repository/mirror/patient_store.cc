// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/patient_store.h"

#include <utility>

namespace nereid::repository::mirror {

using base::Status;
using storage::ObjectInfo;
using storage::ObjectPage;

namespace {

/// A list with more pages is refused: a page of a real store has a thousand entries or more, and a
/// store that repeats its pages would never end.
constexpr int kMaxPages = 20'000;

/// A read that received this much before it failed counts as progress.
constexpr uint64_t kProgressBytes = 64 << 10;

}  // namespace

base::Result<ObjectPage> PatientStore::ListPage(const std::string& prefix, bool only_this_level,
                                                const std::string& page,
                                                const IsCancelled& is_cancelled) const {
  Attempts attempts(context_, is_cancelled);
  while (true) {
    auto listed = store_.List(prefix, only_this_level, page);
    if (listed.ok()) return listed;
    NEREID_RETURN_IF_ERROR(attempts.WaitAfter(listed.status()));
  }
}

Status PatientStore::ListPages(const std::string& prefix, bool only_this_level,
                               const IsCancelled& is_cancelled,
                               const std::function<Status(ObjectPage)>& visit) const {
  std::string page;
  for (int i = 0; i < kMaxPages; ++i) {
    if (is_cancelled && is_cancelled()) return Status::Cancelled("the load was cancelled");
    NEREID_ASSIGN_OR_RETURN(ObjectPage listed,
                            ListPage(prefix, only_this_level, page, is_cancelled));
    const std::string next = std::move(listed.next_page);
    NEREID_RETURN_IF_ERROR(visit(std::move(listed)));
    if (next.empty()) return Status::Ok();
    if (next == page) break;
    page = next;
  }
  return Status::Internal("the list of the objects below '" + prefix + "' does not end");
}

Status PatientStore::ListAll(const std::string& prefix, const IsCancelled& is_cancelled,
                             const Visitor& visit) const {
  return ListPages(prefix, false, is_cancelled, [&](ObjectPage page) {
    for (ObjectInfo& object : page.objects) {
      // Only what was asked for: a key outside of the prefix would lead out of the directory.
      if (!object.key.starts_with(prefix)) continue;
      NEREID_RETURN_IF_ERROR(visit(std::move(object)));
    }
    return Status::Ok();
  });
}

base::Result<std::vector<std::string>> PatientStore::ListDirectories(
    const std::string& prefix, const IsCancelled& is_cancelled) const {
  std::vector<std::string> names;
  NEREID_RETURN_IF_ERROR(ListPages(prefix, true, is_cancelled, [&](ObjectPage page) {
    for (const std::string& directory : page.directories) {
      if (!directory.starts_with(prefix) || !directory.ends_with('/')) continue;
      names.push_back(directory.substr(prefix.size(), directory.size() - prefix.size() - 1));
    }
    return Status::Ok();
  }));
  return names;
}

base::Result<bool> PatientStore::HasObjects(const std::string& prefix,
                                            const IsCancelled& is_cancelled) const {
  bool found = false;
  const Status listed = ListPages(prefix, true, is_cancelled, [&](const ObjectPage& page) {
    found = !page.objects.empty() || !page.directories.empty();
    return found ? Status::AlreadyExists("found") : Status::Ok();  // ends the list
  });
  if (!found && !listed.ok()) return listed;
  return found;
}

Status PatientStore::Read(const ObjectInfo& object, uint64_t offset, uint64_t size,
                          const storage::ObjectStore::Sink& sink,
                          const IsCancelled& is_cancelled) const {
  Attempts attempts(context_, is_cancelled);
  uint64_t done = 0;
  while (done < size) {
    const uint64_t before = done;
    Status refused;  // by the sink, or for too many bytes: a retry would not help
    const auto receive = [&](std::string_view piece) {
      refused = piece.size() > size - done
                    ? Status::Internal("the store sent more bytes of '" + object.key +
                                       "' than the " + std::to_string(size) + " asked for")
                    : sink(piece);
      if (refused.ok()) done += piece.size();
      return refused;
    };
    Status read = store_.Read(object, offset + done, size - done, receive, is_cancelled);
    if (!refused.ok()) return refused;
    if (done == size) break;
    if (read.ok()) {
      read = Status::Unavailable("the store sent " + std::to_string(done) + " of " +
                                 std::to_string(size) + " bytes of '" + object.key + "'");
    }
    if (done - before >= kProgressBytes) attempts.Restart();
    NEREID_RETURN_IF_ERROR(attempts.WaitAfter(std::move(read)));
  }
  return Status::Ok();
}

}  // namespace nereid::repository::mirror
