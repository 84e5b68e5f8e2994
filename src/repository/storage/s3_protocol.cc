// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/s3_protocol.h"

#include <utility>

#include "repository/storage/aws_signature.h"
#include "repository/storage/digests.h"
#include "repository/storage/list_rules.h"
#include "repository/storage/s3_list.h"
#include "repository/storage/utc_time.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr char kUsualRegion[] = "us-east-1";

std::string FirstOf(std::string first, std::string second) {
  return first.empty() ? second : first;
}

}  // namespace

base::Result<std::unique_ptr<StoreProtocol>> S3Protocol::Create(
    const StorageUrl& url, const StoreContext& context, CredentialCache<AwsKeys>::Find find_keys) {
  std::optional<S3Endpoint> endpoint;
  if (!url.endpoint.empty()) {
    NEREID_ASSIGN_OR_RETURN(endpoint,
                            CustomEndpoint(url.endpoint, url.bucket, "of the repository"));
  } else {
    for (const char* const variable : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}) {
      const std::string value = context.Variable(variable);
      if (value.empty() || endpoint) continue;
      NEREID_ASSIGN_OR_RETURN(
          endpoint, CustomEndpoint(value, url.bucket, std::string("of the variable ") + variable));
    }
  }
  return std::unique_ptr<StoreProtocol>(
      new S3Protocol(url, context, std::move(find_keys), std::move(endpoint)));
}

S3Protocol::S3Protocol(const StorageUrl& url, const StoreContext& context,
                       CredentialCache<AwsKeys>::Find find_keys, std::optional<S3Endpoint> endpoint)
    : name_(BucketName(url)),
      bucket_(url.bucket),
      clock_(*context.clock),
      endpoint_(std::move(endpoint)),
      default_region_(
          FirstOf(context.Variable("AWS_REGION"), context.Variable("AWS_DEFAULT_REGION"))),
      keys_(std::move(find_keys), *context.clock) {}

std::string S3Protocol::RegionOf(const AwsKeys& keys) {
  {
    base::MutexLock lock(mutex_);
    if (!learned_region_.empty()) return learned_region_;
  }
  const std::string region = FirstOf(keys.region, default_region_);
  return IsRegion(region) ? region : kUsualRegion;
}

base::Result<PreparedRequest> S3Protocol::Prepare(const std::string& path,
                                                  const Parameters& parameters) {
  NEREID_ASSIGN_OR_RETURN(const auto current, keys_.Get());
  const AwsKeys& keys = current.credential.value;
  const std::string region = RegionOf(keys);
  const S3Endpoint endpoint = endpoint_ ? *endpoint_ : AwsEndpoint(bucket_, region);
  AwsRequest to_sign;
  to_sign.path = endpoint.root + path;
  if (to_sign.path.empty()) to_sign.path = "/";
  to_sign.parameters = parameters;
  PreparedRequest request;
  request.credentials = current.credential.source;
  request.credential_number = current.number;
  const std::string query = EncodeParameters(parameters);
  request.http.url = endpoint.url + to_sign.path + (query.empty() ? "" : "?" + query);
  if (keys.is_anonymous()) return request;

  const AwsScope scope = {region, "s3", BasicTimeText(clock_.WallMs())};
  to_sign.body_sha256 = HexOf(Sha256(""));
  to_sign.fields = {{"x-amz-content-sha256", to_sign.body_sha256}, {"x-amz-date", scope.time}};
  if (!keys.session_token.empty()) {
    to_sign.fields.emplace_back("x-amz-security-token", keys.session_token);
  }
  request.http.fields = to_sign.fields;
  to_sign.fields.emplace_back("host", endpoint.authority);  // which libcurl sends
  request.http.fields.emplace_back("Authorization", AwsAuthorization(to_sign, scope, keys));
  return request;
}

base::Result<PreparedRequest> S3Protocol::ListRequest(const std::string& prefix,
                                                      bool only_this_level,
                                                      const std::string& page) {
  Parameters parameters = {{"list-type", "2"},
                           {"encoding-type", "url"},
                           {"max-keys", std::to_string(kPageEntries)},
                           {"prefix", prefix}};
  if (only_this_level) parameters.emplace_back("delimiter", "/");
  if (!page.empty()) parameters.emplace_back("continuation-token", page);
  return Prepare("", parameters);
}

base::Result<PreparedRequest> S3Protocol::ReadRequest(const ObjectInfo& object,
                                                      const curl::ByteRange& range) {
  NEREID_ASSIGN_OR_RETURN(PreparedRequest request,
                          Prepare("/" + PercentEncode(object.key, true), {}));
  // Not among the signed fields: AWS demands only "host" and those that begin with "x-amz-".
  request.http.fields.emplace_back("If-Match", "\"" + object.version + "\"");
  request.http.range = range;
  return request;
}

base::Result<ObjectPage> S3Protocol::ParseList(const std::string& body) {
  base::Result<ObjectPage> page = ParseS3List(body);
  if (page.ok() && !tags_are_md5_.load(std::memory_order_relaxed)) {
    for (ObjectInfo& object : page->objects) object.checksum.reset();
  }
  return page;
}

ServiceError S3Protocol::ParseError(const curl::HttpResponse& response) {
  ServiceError error = ParseXmlError(response.body);
  const std::string_view region = response.field("x-amz-bucket-region");
  if (!region.empty()) error.region = region;
  return error;
}

std::string S3Protocol::VersionOf(const curl::HttpResponse& response) {
  return std::string(WithoutQuotes(response.field("etag")));
}

Status S3Protocol::CheckObject(const ObjectInfo& object, const curl::HttpResponse& head) {
  const bool tag_is_md5 = !head.field("x-amz-server-side-encryption").starts_with("aws:kms") &&
                          head.field("x-amz-server-side-encryption-customer-algorithm").empty();
  if (tag_is_md5 || !object.checksum) return {};
  // The list could not know it. The next list has no checksums.
  tags_are_md5_.store(false, std::memory_order_relaxed);
  return Status::AlreadyExists(
      "the object is encrypted such that its ETag is not its MD5; it must be listed again");
}

bool S3Protocol::Recover(const PreparedRequest& request, const curl::HttpResponse& response,
                         const ServiceError& error) {
  const bool wrong_region = response.status == 301 || response.status == 307 ||
                            response.status == 400 || response.status == 403;
  if (wrong_region && IsRegion(error.region)) {
    base::MutexLock lock(mutex_);
    // The region of this request stands in its signature, or in its host without one.
    const bool used =
        learned_region_ == error.region ||
        request.http.url.find("." + error.region + ".") != std::string::npos ||
        curl::FieldOf(request.http.fields, "Authorization").find("/" + error.region + "/s3/") !=
            std::string_view::npos;
    if (!used) {
      learned_region_ = error.region;
      return true;
    }
  }
  return RefusesCredentials(response.status, error) && keys_.Renew(request.credential_number);
}

}  // namespace nereid::repository::storage
