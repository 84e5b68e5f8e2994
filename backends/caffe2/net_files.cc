// SPDX-License-Identifier: Apache-2.0
#include "caffe2/net_files.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <fstream>

#include "base/utf8.h"
#include "framework/version_file.h"

namespace nereid::caffe2 {
namespace {

namespace fs = std::filesystem;

/// The largest number of operators in a file. Each takes far more memory than its bytes in the
/// file.
constexpr int kMaxOperators = 1000000;

Error ReadFile(const ModelConfig& config, const fs::path& path, std::string* bytes) {
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) {
    return framework::MissingFile(config, path);
  }
  const std::uintmax_t size = fs::file_size(path, failure);
  if (failure || size > INT_MAX) {
    return Error::InvalidArgument("'" + path.string() +
                                  "' cannot be read: it has two gigabytes or more");
  }
  std::ifstream stream(path, std::ios::binary);
  bytes->resize(static_cast<size_t>(size));
  if (!stream.read(bytes->data(), static_cast<std::streamsize>(size))) {
    return Error::Internal("'" + path.string() + "' cannot be read");
  }
  return {};
}

template <typename List>
bool AreTexts(const List& list) {
  return std::all_of(list.begin(), list.end(), base::IsUtf8);
}

bool HasOnlyTexts(const caffe2_net::NetDef& net) {
  const auto is_text = [](const caffe2_net::OperatorDef& op) {
    return base::IsUtf8(op.type()) && AreTexts(op.input()) && AreTexts(op.output()) &&
           std::all_of(op.arg().begin(), op.arg().end(), [](const caffe2_net::Argument& argument) {
             // The strings in values of GivenTensorStringFill may hold any bytes.
             return base::IsUtf8(argument.name()) && base::IsUtf8(argument.s());
           });
  };
  return base::IsUtf8(net.name()) && AreTexts(net.external_input()) &&
         AreTexts(net.external_output()) && std::all_of(net.op().begin(), net.op().end(), is_text);
}

}  // namespace

Error ParseNet(std::string_view bytes, const std::string& file, caffe2_net::NetDef* net) {
  if (bytes.size() > INT_MAX ||
      !net->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error::InvalidArgument("'" + file + "' is no Caffe2 NetDef, or is damaged");
  }
  if (net->op_size() > kMaxOperators) {
    return Error::InvalidArgument("'" + file + "' has more than " + std::to_string(kMaxOperators) +
                                  " operators");
  }
  if (!HasOnlyTexts(*net)) {
    return Error::InvalidArgument("'" + file + "' is damaged: it has a name that is no UTF-8 text");
  }
  return {};
}

Error ReadNets(const ModelConfig& config, NetPair* nets, std::string* place) {
  fs::path file;
  NEREID_BACKEND_TRY(framework::FindVersionFile(config, "model.netdef", &file));
  const fs::path init = file.parent_path() / ("init_" + file.filename().string());
  std::string bytes;
  NEREID_BACKEND_TRY(ReadFile(config, file, &bytes));
  NEREID_BACKEND_TRY(ParseNet(bytes, file.string(), &nets->predict));
  NEREID_BACKEND_TRY(ReadFile(config, init, &bytes));
  NEREID_BACKEND_TRY(ParseNet(bytes, init.string(), &nets->init));
  *place = file.string();
  return {};
}

}  // namespace nereid::caffe2
