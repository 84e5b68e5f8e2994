// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/http2/testing/test_client.h"

namespace nereid::frontend::grpc::testing {

using http2::testing::Frame;
using http2::testing::Headers;
using http2::testing::RawClient;
using http2::testing::Reply;
using http2::testing::TestClient;

}  // namespace nereid::frontend::grpc::testing
