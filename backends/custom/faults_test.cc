// SPDX-License-Identifier: Apache-2.0
// Libraries that cannot be used, and libraries that misbehave: each gets an error that says what it
// did, and the next request is served.
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>

#include "custom/fixture.h"

namespace nereid::custom::testing {
namespace {

class FaultsTest : public CustomTest {
 protected:
  std::string LoadFaulty(const std::string& library, const std::string& word = "") {
    return Load(library, Tensor("INPUT0", "TYPE_INT32", "1"),
                Tensor("OUTPUT0", "TYPE_INT32", "1") + "," + Tensor("FREE", "TYPE_INT32", "-1,-1") +
                    "," + Tensor("TEXT", "TYPE_STRING", "1"),
                R"(,"parameters":{")" + word + R"(":{"string_value":"1"}})");
  }
  /// The text of the failure of a request that asks for the fault; "" where it is answered with the
  /// fault's number.
  std::string Ask(int32_t fault, const std::string& output = "OUTPUT0") {
    TRITONBACKEND_Request request;
    request.AddInput<int32_t>("INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, {fault});
    request.outputs = {output};
    EXPECT_EQ(server_.Execute({&request}), "");
    const auto& answer = request.Answer();
    if (!answer.failed && answer.outputs.count("OUTPUT0") != 0) {
      EXPECT_EQ(answer.outputs.at("OUTPUT0").As<int32_t>(), std::vector<int32_t>{fault});
    }
    return answer.failed ? answer.message : "";
  }
  std::string Execute() const { return "model 'm': CustomExecute of '" + LibraryPath() + "' "; }
  std::string Library() const { return "model 'm': the custom library '" + LibraryPath() + "' "; }
};

TEST_F(FaultsTest, LibrariesThatLackSomething) {
  EXPECT_EQ(LoadFaulty("no_initialize"), Library() + "lacks the function CustomInitialize");
  EXPECT_EQ(LoadFaulty("no_error_string"), Library() + "lacks the function CustomErrorString");
  EXPECT_EQ(LoadFaulty("no_execute"), Library() + "lacks the function CustomExecute");
  EXPECT_EQ(LoadFaulty("no_execute_v2"), Library() + "lacks the function CustomExecuteV2");
  EXPECT_EQ(LoadFaulty("version_3"), "model 'm': CustomVersion of the custom library '" +
                                         LibraryPath() +
                                         "' gives 3, but only versions 1 and 2 are known");
}

TEST_F(FaultsTest, FilesThatAreNoLibraries) {
  EXPECT_EQ(LoadFaulty("absent"), "unable to find '" + LibraryPath() + "' for model 'm'");
  std::filesystem::remove(LibraryPath());
  std::ofstream(LibraryPath()) << "no ELF file";
  EXPECT_NE(server_.Load().find("cannot open the custom library '" + LibraryPath() + "': "),
            std::string::npos);
  std::filesystem::resize_file(LibraryPath(), 0);
  EXPECT_NE(server_.Load().find("cannot open the custom library"), std::string::npos);
}

/// Returns how many bytes of a library are mapped into memory.
size_t EndOfSegments(const std::string& library) {
  ElfW(Ehdr) header = {};
  std::memcpy(&header, library.data(), sizeof(header));
  size_t end = 0;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment = {};
    std::memcpy(&segment, library.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

TEST_F(FaultsTest, TruncatedLibrariesAreRefused) {
  std::ifstream whole(std::filesystem::path(CUSTOM_LIBRARIES) / "libcustom_echo.so",
                      std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(whole)), {});
  ASSERT_GT(bytes.size(), 1000u);
  ASSERT_EQ(LoadFaulty("echo"), "");
  // What follows the last segment is for debuggers, and may be missing.
  const size_t step = EndOfSegments(bytes) / 256;
  for (size_t i = 0; i < 256; ++i) {
    std::filesystem::remove(LibraryPath());  // a new file, not another content of an open one
    std::ofstream(LibraryPath(), std::ios::binary) << bytes.substr(0, i * step);
    EXPECT_NE(server_.Load().find("cannot open the custom library"), std::string::npos) << i;
  }
}

TEST_F(FaultsTest, CustomInitializeFails) {
  EXPECT_EQ(
      LoadFaulty("faulty", "initialize_fails"),
      "model 'm': CustomInitialize of '" + LibraryPath() + "' failed with code 3 (out of ink)");
  EXPECT_EQ(
      LoadFaulty("faulty", "initialize_fails_with_context"),
      "model 'm': CustomInitialize of '" + LibraryPath() + "' failed with code 4 (of the context)");
  EXPECT_EQ(LoadFaulty("faulty", "initialize_throws"),
            "model 'm': CustomInitialize of '" + LibraryPath() + "' threw: no room");
}

TEST_F(FaultsTest, AFailedFinalizeIsLogged) {
  ASSERT_EQ(LoadFaulty("faulty"), "");
  EXPECT_NE(LoadFaulty("absent"), "");  // ends the loaded one
  EXPECT_EQ(backend::testing::LogLines().back(),
            "model 'm': CustomFinalize of '" + LibraryPath() + "' failed with code 6");
}

TEST_F(FaultsTest, CodesAndTheirTexts) {
  ASSERT_EQ(LoadFaulty("faulty"), "");
  EXPECT_EQ(Ask(0), "");
  EXPECT_EQ(Ask(1), Execute() + "failed with code 7 (all of them)");
  EXPECT_EQ(Ask(2), Execute() + "failed with code 5 (only this one)");
  EXPECT_EQ(Ask(9), Execute() + "failed with code -1 (no text for it)");
  EXPECT_EQ(Ask(13), Execute() + "failed with code 13 (\\xff\\xfe)");
  EXPECT_EQ(Ask(10), Execute() + "threw: thrown by the custom library");
  EXPECT_EQ(Ask(0), "");
}

TEST_F(FaultsTest, WrongUseOfTheCallbacks) {
  ASSERT_EQ(LoadFaulty("faulty"), "");
  const std::string wrong = "the custom library of model 'm' asked ";
  EXPECT_EQ(Ask(3), wrong + "twice for the output 'OUTPUT0'");
  EXPECT_EQ(Ask(4), wrong +
                        "for the output 'OUTPUT0' in the shape [1,1] with 3 bytes, but "
                        "TYPE_INT32 needs 4");
  EXPECT_EQ(Ask(5), wrong + "for the output 'OUTPUT9', which the configuration lacks");
  EXPECT_EQ(Ask(6), wrong + "for an output with a null pointer");
  EXPECT_EQ(Ask(7), wrong +
                        "for the output 'OUTPUT0' in the shape [1,2], but the configuration "
                        "says [1,1] (with the batch)");
  EXPECT_EQ(Ask(8), wrong + "for the input 'INPUT9', which the request lacks");
  EXPECT_EQ(Ask(11), wrong +
                         "for the output 'FREE' in the shape [1,9223372036854775807,"
                         "9223372036854775807], which is too large");
  EXPECT_EQ(Ask(14), wrong +
                         "for the output 'FREE' in the shape [1,-1,1], but the configuration "
                         "says [1,-1,-1] (with the batch)");
  EXPECT_EQ(Ask(15), wrong + "for an output with a null pointer");
  EXPECT_EQ(Ask(19, "TEXT"),
            "BYTES tensor 'TEXT' element 0 claims 4294967295 bytes, but 0 are left");
  EXPECT_EQ(Ask(0), "");
}

TEST_F(FaultsTest, WhatIsNoMistake) {
  ASSERT_EQ(LoadFaulty("faulty"), "");
  EXPECT_EQ(Ask(12), "");  // an output that is not written is not in the answer
  EXPECT_EQ(Ask(16), "");  // an output that nobody wants has no buffer
  EXPECT_EQ(Ask(17), "");  // a callback without its context says no
  EXPECT_EQ(Ask(18), "");  // what the library does to its payload is not looked at
}

TEST_F(FaultsTest, OnePayloadFailsTheOthersDoNot) {
  ASSERT_EQ(LoadFaulty("faulty"), "");
  TRITONBACKEND_Request requests[4];
  std::vector<TRITONBACKEND_Request*> batch;
  for (const int32_t fault : {0, 2, 4, 0}) {
    TRITONBACKEND_Request& request = requests[batch.size()];
    request.AddInput<int32_t>("INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, {fault});
    request.outputs = {"OUTPUT0"};
    batch.push_back(&request);
  }
  ASSERT_EQ(server_.Execute(batch), "");
  EXPECT_FALSE(requests[0].Answer().failed);
  EXPECT_EQ(requests[1].Answer().message, Execute() + "failed with code 5 (only this one)");
  EXPECT_TRUE(requests[2].Answer().failed);
  EXPECT_EQ(requests[3].Answer().outputs.at("OUTPUT0").As<int32_t>(), std::vector<int32_t>{0});
}

TEST_F(FaultsTest, AFailureOfAllFailsAll) {
  ASSERT_EQ(LoadFaulty("faulty"), "");
  TRITONBACKEND_Request good, bad;
  good.AddInput<int32_t>("INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, {0});
  bad.AddInput<int32_t>("INPUT0", TRITONSERVER_TYPE_INT32, {1, 1}, {1});
  good.outputs = bad.outputs = {"OUTPUT0"};
  ASSERT_EQ(server_.Execute({&good, &bad}), "");
  EXPECT_EQ(good.Answer().message, Execute() + "failed with code 7 (all of them)");
  EXPECT_EQ(bad.Answer().message, good.Answer().message);
}

TEST_F(FaultsTest, ConfigurationsThatCannotWork) {
  const std::string input = Tensor("INPUT0", "TYPE_INT32", "1");
  const std::string output = Tensor("OUTPUT0", "TYPE_INT32", "1");
  EXPECT_EQ(Load("faulty", "", output),
            "model 'm': a custom library does not say what its inputs and outputs are; write input "
            "and output into the configuration");
  EXPECT_EQ(Load("faulty", input, ""),
            "model 'm': a custom library does not say what its inputs and outputs are; write input "
            "and output into the configuration");
  EXPECT_EQ(Load("faulty", input, output, R"(,"model_transaction_policy":{"decoupled":true})"),
            "model 'm': model_transaction_policy.decoupled is not supported for a custom library");
  EXPECT_EQ(Load("faulty", input, output, R"(,"batch_input":[{"target_name":["x"]}])"),
            "model 'm': batch_input is not supported for a custom library");
  EXPECT_EQ(Load("faulty", input, output, R"(,"batch_output":[{"target_name":["x"]}])"),
            "model 'm': batch_output is not supported for a custom library");
}

}  // namespace
}  // namespace nereid::custom::testing
