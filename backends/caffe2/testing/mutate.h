// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

#include "caffe2/net_files.h"

namespace nereid::caffe2::testing {

/// Changes one thing of a net: operators, blobs, arguments, names, external lists. The nets stay
/// well-formed messages.
void MutateNet(std::mt19937* random, NetPair* nets);

/// Changes bytes: flips, cuts, doubles, inserts, or makes a length a huge one.
void MutateBytes(std::mt19937* random, std::string* bytes);

}  // namespace nereid::caffe2::testing
