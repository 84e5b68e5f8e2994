// SPDX-License-Identifier: Apache-2.0
#include "repository/mirror/model_mirror.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/log.h"

namespace nereid::repository::mirror {

using base::Status;
using base::StatusCode;
using storage::ObjectInfo;

namespace {

constexpr size_t kMaxObjects = 100'000;  // of one model

bool IsSame(const std::vector<ObjectInfo>& a, const std::vector<ObjectInfo>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ObjectInfo& x, const ObjectInfo& y) {
                      return x.key == y.key && x.size == y.size && x.version == y.version;
                    });
}

/// Returns whether a failed copy shows that the model has changed since it was listed.
bool ShowsChange(const Status& status) {
  return status.code() == StatusCode::kAlreadyExists || status.code() == StatusCode::kNotFound;
}

uint64_t BytesOf(const std::vector<WantedObject>& wanted) {
  uint64_t bytes = 0;
  for (const WantedObject& object : wanted) bytes += object.object.size;  // checked by the plan
  return bytes;
}

}  // namespace

ModelMirror::ModelMirror(std::unique_ptr<BlobCache> cache, Options options)
    : options_(std::move(options)),
      cache_(std::move(cache)),
      retries_{options_.retry, options_.clock, options_.sleep, options_.random,
               [this] { retry_count_.fetch_add(1, std::memory_order_relaxed); }},
      brief_retries_(retries_),
      slots_(std::max<uint32_t>(1, options_.max_reads)) {
  brief_retries_.policy = options_.brief_retry;
}

ModelMirror::Counts ModelMirror::counts() const {
  return {bytes_downloaded_, cache_hits_, retry_count_};
}

base::Result<std::vector<ObjectInfo>> ModelMirror::ListObjects(const RemoteModel& model) const {
  Objects objects;
  NEREID_RETURN_IF_ERROR(
      Patient(model.store).ListAll(model.prefix, options_.is_cancelled, [&](ObjectInfo object) {
        if (objects.size() >= kMaxObjects) {
          return Status::InvalidArgument("model '" + model.name + "' has more than " +
                                         std::to_string(kMaxObjects) + " objects");
        }
        objects.push_back(std::move(object));
        return Status::Ok();
      }));
  std::sort(objects.begin(), objects.end(), [](const ObjectInfo& a, const ObjectInfo& b) {
    return a.key != b.key ? a.key < b.key : a.version < b.version;
  });
  if (objects.empty()) {
    return Status::NotFound("there is no object of the model '" + model.name + "'");
  }
  return objects;
}

base::Result<ModelCopy> ModelMirror::Copy(const RemoteModel& model) {
  const uint64_t begin_ns = options_.clock->NowNs();
  const DownloadBoard::Entry entry(board_, model.name, begin_ns);
  NEREID_ASSIGN_OR_RETURN(Objects objects, ListObjects(model));
  const Attempts attempts(retries_, options_.is_cancelled);
  for (uint32_t round = 1; round <= options_.max_rounds; ++round) {
    auto checkout = CopyListed(model, objects, entry.progress());
    if (!checkout.ok() && !ShowsChange(checkout.status())) return checkout.status();
    NEREID_ASSIGN_OR_RETURN(Objects again, ListObjects(model));
    if (checkout.ok() && IsSame(objects, again)) {
      LOG_INFO << "model '" << model.name << "' is at " << (*checkout)->path() << " ("
               << entry.progress().Text() << ", "
               << (options_.clock->NowNs() - begin_ns) / 1'000'000 << " ms)";
      return ModelCopy{std::move(checkout).value(), std::move(objects)};
    }
    LOG_INFO << "model '" << model.name << "' was changed during its download ("
             << (checkout.ok() ? "its list differs" : checkout.status().message()) << "); round "
             << round << " of " << options_.max_rounds;
    objects = std::move(again);
    NEREID_RETURN_IF_ERROR(attempts.Pause(round));
  }
  return Status::Unavailable("model '" + model.name + "' was changed during each of " +
                             std::to_string(options_.max_rounds) +
                             " downloads; load it again when its upload is complete");
}

base::Result<std::shared_ptr<const Checkout>> ModelMirror::CopyListed(const RemoteModel& model,
                                                                      const Objects& objects,
                                                                      DownloadProgress& progress) {
  NEREID_ASSIGN_OR_RETURN(const CheckoutPlan plan, PlanCheckout(model.name, model.prefix, objects));
  NEREID_ASSIGN_OR_RETURN(std::shared_ptr<const Checkout> checkout, cache_->NewCheckout());
  for (const std::string& directory : plan.directories) {
    NEREID_RETURN_IF_ERROR(
        cache_->files().MakeDirectory(base::JoinPath(checkout->path(), directory)));
  }
  progress.Begin(plan.files.size(), plan.bytes);
  NEREID_ASSIGN_OR_RETURN(std::vector<WantedObject> wanted,
                          PlaceCached(model, plan, *checkout, progress));
  LOG_INFO << "model '" << model.name << "' has " << plan.files.size() << " objects with "
           << plan.bytes << " bytes; " << wanted.size() << " with " << BytesOf(wanted)
           << " bytes are downloaded, the others are in the cache";
  if (!wanted.empty()) {
    NEREID_RETURN_IF_ERROR(cache_->MakeRoom(BytesOf(wanted)));
    NEREID_RETURN_IF_ERROR(Download(model, std::move(wanted), progress));
  }
  return checkout;
}

base::Result<std::vector<WantedObject>> ModelMirror::PlaceCached(const RemoteModel& model,
                                                                 const CheckoutPlan& plan,
                                                                 const Checkout& checkout,
                                                                 DownloadProgress& progress) {
  std::vector<WantedObject> wanted;
  for (const CheckoutPlan::File& file : plan.files) {
    const ObjectInfo& object = file.object;
    std::string path = base::JoinPath(checkout.path(), file.path);
    const auto known = cache_->Find({model.store_name, object.key, object.version, object.size});
    Status placed = Status::NotFound("");
    if (known) placed = cache_->Place(*known, object.size, path);
    if (placed.ok()) {
      ++cache_hits_;
      progress.AddObject();
      progress.AddBytes(object.size);
      continue;
    }
    if (placed.code() != StatusCode::kNotFound) return placed;
    wanted.push_back({object, std::move(path)});
  }
  return wanted;
}

Status ModelMirror::Download(const RemoteModel& model, std::vector<WantedObject> wanted,
                             DownloadProgress& progress) {
  const PatientStore store = Patient(model.store);
  const auto log_progress = [&] {
    if (!progress.IsLogDue(options_.clock->NowNs())) return;
    LOG_INFO << "model '" << model.name << "' is downloading: " << progress.Text();
  };
  ObjectTransfers transfers(
      {store, model.store_name, *cache_, slots_, std::max<uint64_t>(1, options_.chunk_bytes),
       std::max<uint32_t>(1, options_.max_reads), bytes_downloaded_, options_.is_cancelled,
       log_progress, progress},
      std::move(wanted));
  return transfers.Run();
}

base::Result<std::string> ModelMirror::ReadObject(const RemoteModel& model,
                                                  const ObjectInfo& object) {
  NEREID_ASSIGN_OR_RETURN(const auto checkout, cache_->NewCheckout());
  CheckoutPlan plan;
  plan.files.push_back({"content", object});
  DownloadProgress progress(options_.clock->NowNs());
  NEREID_ASSIGN_OR_RETURN(std::vector<WantedObject> wanted,
                          PlaceCached(model, plan, *checkout, progress));
  if (!wanted.empty()) NEREID_RETURN_IF_ERROR(Download(model, std::move(wanted), progress));
  return base::ReadFile(base::JoinPath(checkout->path(), "content"));
}

}  // namespace nereid::repository::mirror
