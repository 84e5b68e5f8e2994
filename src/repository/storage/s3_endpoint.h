// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace nereid::repository::storage {

/// Where the requests for a bucket go.
struct S3Endpoint {
  std::string url;        // "https://host", without a path
  std::string authority;  // the value of the field Host: "host", "host:port"
  std::string root;       // the path of the bucket: "/bucket", or "" where the host names it
};

/// Returns the endpoint of AWS for a bucket: the host names the bucket, unless the bucket's name
/// has a '.', which certificates do not cover.
S3Endpoint AwsEndpoint(const std::string& bucket, const std::string& region);

/// Returns an endpoint at a given server, whose paths name the bucket. `url` is http or https with
/// host, an optional port and no path. INVALID_ARG, with `origin` as the URL's source, if it is
/// not.
base::Result<S3Endpoint> CustomEndpoint(std::string url, const std::string& bucket,
                                        const std::string& origin);

/// Returns whether the text has the form of a region's name: letters, digits, '-'.
bool IsRegion(std::string_view text);

}  // namespace nereid::repository::storage
