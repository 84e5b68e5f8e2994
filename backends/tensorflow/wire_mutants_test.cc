// SPDX-License-Identifier: Apache-2.0
// Whatever a file holds, the readers of this folder come to an end and touch nothing else: judged
// by the sanitizers. The whole load of mutants is tests/conformance/test_tensorflow_loading.py.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

#include "tensorflow/graph_check.h"
#include "tensorflow/graph_state.h"
#include "tensorflow/graph_writer.h"
#include "tensorflow/model_files.h"
#include "tensorflow/signature_def.h"

namespace nereid::tensorflow {
namespace {

std::filesystem::path Data() {
  const char* source = std::getenv("NEREID_SOURCE_DIR");
  return std::filesystem::path(source == nullptr ? "." : source) / "tests" / "data" / "tensorflow";
}

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string Mutant(std::string bytes, std::mt19937* random) {
  const auto below = [&](size_t limit) { return (*random)() % std::max<size_t>(limit, 1); };
  const size_t changes = 1 + below(8);
  for (size_t i = 0; i < changes && !bytes.empty(); ++i) {
    const size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.insert(at, std::string(1 + below(9), '\xff'));
        break;
      case 3:
        bytes.erase(at, 1 + below(32));
        break;
      default:
        bytes.resize(below(10) == 0 ? at : bytes.size());
    }
  }
  return bytes;
}

/// In memory of exactly that size, so that a byte too far is seen.
void ReadAll(const std::string& mutant) {
  const auto memory = std::make_unique<char[]>(mutant.size());
  std::copy(mutant.begin(), mutant.end(), memory.get());
  const std::string_view bytes(memory.get(), mutant.size());
  const Error checked = CheckGraphDef(bytes, "m", testing::FindOp);
  MayChangeState(bytes, {"scores", "Identity:1"}, testing::FindOp);
  ReadSignatures(bytes);
  ReadTags(bytes);
  for (WireReader saved(bytes); saved.Next();) {
    ReadSignatures(saved.text());
    for (WireReader graph(saved.text()); graph.Next();) {
      const Error inner = CheckGraphDef(graph.text(), "m", testing::FindOp);
      MayChangeState(graph.text(), {"StatefulPartitionedCall"}, testing::FindOp);
    }
  }
}

TEST(WireMutantsTest, ReadersSurviveThem) {
  std::mt19937 random(20);  // NOLINT: the same mutants each time
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Data())) {
    if (entry.path().extension() != ".pb" && entry.path().extension() != ".graphdef") {
      continue;
    }
    ++files;
    const std::string whole = Read(entry.path());
    ASSERT_FALSE(whole.empty());
    ReadAll(whole);
    for (int i = 0; i < 60; ++i) {
      ReadAll(Mutant(whole, &random));
    }
  }
  EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace nereid::tensorflow
