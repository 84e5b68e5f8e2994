// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "abi/error.h"
#include "abi/handle.h"
#include "abi/metrics.h"
#include "abi/parameter.h"
#include "abi/tensor_types.h"
#include "base/log.h"
#include "memory/buffer_attributes.h"

namespace nereid::abi {
namespace {

/// Deletes the error and returns its code. Fails the test if there is no error.
TRITONSERVER_Error_Code CodeOf(TRITONSERVER_Error* error) {
  EXPECT_NE(error, nullptr);
  const TRITONSERVER_Error_Code code = TRITONSERVER_ErrorCode(error);
  TRITONSERVER_ErrorDelete(error);
  return code;
}

std::string TextOf(TRITONSERVER_Error* error) {
  std::string text = TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  return text;
}

TEST(ErrorTest, KeepsCodeAndMessage) {
  TRITONSERVER_Error* error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_NOT_FOUND, "no such thing");
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_NOT_FOUND);
  EXPECT_STREQ(TRITONSERVER_ErrorCodeString(error), "Not found");
  EXPECT_STREQ(TRITONSERVER_ErrorMessage(error), "no such thing");
  const base::Status status = TakeStatus(error);
  EXPECT_EQ(status.code(), base::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no such thing");
}

TEST(ErrorTest, ConvertsCodesInBothDirections) {
  for (int code = TRITONSERVER_ERROR_UNKNOWN; code <= TRITONSERVER_ERROR_CANCELLED; ++code) {
    const auto value = static_cast<TRITONSERVER_Error_Code>(code);
    EXPECT_EQ(ToErrorCode(ToStatusCode(value)), value);
    EXPECT_EQ(CodeOf(TRITONSERVER_ErrorNew(value, "x")), value);
  }
  EXPECT_EQ(CodeOf(TRITONSERVER_ErrorNew(static_cast<TRITONSERVER_Error_Code>(77), "x")),
            TRITONSERVER_ERROR_UNKNOWN);
}

TEST(ErrorTest, CancelledHasNoCodeText) {
  TRITONSERVER_Error* error = TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_CANCELLED, "x");
  EXPECT_STREQ(TRITONSERVER_ErrorCodeString(error), "<invalid code>");
  TRITONSERVER_ErrorDelete(error);
}

TEST(ErrorTest, AcceptsNull) {
  TRITONSERVER_ErrorDelete(nullptr);
  EXPECT_STREQ(TRITONSERVER_ErrorMessage(nullptr), "");
  EXPECT_TRUE(TakeStatus(nullptr).ok());
  EXPECT_EQ(TextOf(TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNKNOWN, nullptr)), "");
}

TEST(ErrorTest, BorrowedErrorsSurviveDeletion) {
  const base::Status status = base::Status::NotFound("a text that is too long for a short string");
  TRITONSERVER_Error* const error = BorrowError(status);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_NOT_FOUND);
    EXPECT_STREQ(TRITONSERVER_ErrorMessage(error), status.message().c_str());
    EXPECT_EQ(ToStatus(error).code(), base::StatusCode::kNotFound);
    TRITONSERVER_ErrorDelete(error);
  }
  EXPECT_EQ(TakeStatus(error).message(), status.message());
  EXPECT_EQ(BorrowError(base::Status::Ok()), nullptr);
}

TEST(GuardTest, TurnsExceptionsIntoErrors) {
  EXPECT_EQ(Guard([] { return base::Status::Ok(); }), nullptr);
  TRITONSERVER_Error* error = Guard([]() -> base::Status { throw std::runtime_error("boom"); });
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_INTERNAL);
  EXPECT_NE(TextOf(error).find("boom"), std::string::npos);
  EXPECT_EQ(CodeOf(Guard([]() -> base::Status { throw 5; })), TRITONSERVER_ERROR_INTERNAL);
  // The out-of-memory error is one object, which survives its deletion.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(TextOf(Guard([]() -> base::Status { throw std::bad_alloc(); })), "out of memory");
  }
}

TEST(EnumTextTest, VersionAndNames) {
  uint32_t major = 9, minor = 9;
  EXPECT_EQ(TRITONSERVER_ApiVersion(&major, &minor), nullptr);
  EXPECT_EQ(major, 1u);
  EXPECT_EQ(minor, 34u);
  EXPECT_EQ(CodeOf(TRITONSERVER_ApiVersion(nullptr, &minor)), TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_STREQ(TRITONSERVER_DataTypeString(TRITONSERVER_TYPE_BYTES), "BYTES");
  EXPECT_STREQ(TRITONSERVER_DataTypeString(static_cast<TRITONSERVER_DataType>(257)), "<invalid>");
  EXPECT_STREQ(TRITONSERVER_DataTypeString(static_cast<TRITONSERVER_DataType>(-1)), "<invalid>");
  EXPECT_EQ(TRITONSERVER_StringToDataType("BF16"), TRITONSERVER_TYPE_BF16);
  EXPECT_EQ(TRITONSERVER_StringToDataType("bf16"), TRITONSERVER_TYPE_INVALID);
  EXPECT_EQ(TRITONSERVER_StringToDataType(nullptr), TRITONSERVER_TYPE_INVALID);
  EXPECT_EQ(TRITONSERVER_DataTypeByteSize(TRITONSERVER_TYPE_FP64), 8u);
  EXPECT_EQ(TRITONSERVER_DataTypeByteSize(TRITONSERVER_TYPE_BYTES), 0u);
  EXPECT_EQ(TRITONSERVER_DataTypeByteSize(static_cast<TRITONSERVER_DataType>(257)), 0u);
  EXPECT_STREQ(TRITONSERVER_MemoryTypeString(TRITONSERVER_MEMORY_CPU_PINNED), "CPU_PINNED");
  EXPECT_STREQ(TRITONSERVER_MemoryTypeString(static_cast<TRITONSERVER_MemoryType>(3)), "<invalid>");
  EXPECT_STREQ(TRITONSERVER_ParameterTypeString(TRITONSERVER_PARAMETER_DOUBLE), "DOUBLE");
  EXPECT_STREQ(TRITONSERVER_InstanceGroupKindString(TRITONSERVER_INSTANCEGROUPKIND_MODEL), "MODEL");
  EXPECT_STREQ(TRITONSERVER_InferenceTraceLevelString(TRITONSERVER_TRACE_LEVEL_TENSORS), "TENSORS");
  EXPECT_STREQ(
      TRITONSERVER_InferenceTraceLevelString(static_cast<TRITONSERVER_InferenceTraceLevel>(12)),
      "<unknown>");
  EXPECT_STREQ(TRITONSERVER_InferenceTraceActivityString(TRITONSERVER_TRACE_QUEUE_START),
               "QUEUE_START");
}

TEST(ParameterTest, CopiesAllButBytes) {
  int64_t number = -5;
  char text[] = "abc";
  TRITONSERVER_Parameter* integer =
      TRITONSERVER_ParameterNew("n", TRITONSERVER_PARAMETER_INT, &number);
  TRITONSERVER_Parameter* string =
      TRITONSERVER_ParameterNew("s", TRITONSERVER_PARAMETER_STRING, text);
  TRITONSERVER_Parameter* bytes = TRITONSERVER_ParameterBytesNew("b", text, 3);
  number = 7;
  text[0] = 'X';
  EXPECT_EQ(std::get<int64_t>(integer->value), -5);
  EXPECT_EQ(std::get<std::string>(string->value), "abc");
  EXPECT_EQ(std::get<std::string_view>(bytes->value), "Xbc");
  EXPECT_EQ(bytes->type(), TRITONSERVER_PARAMETER_BYTES);
  EXPECT_EQ(integer->type(), TRITONSERVER_PARAMETER_INT);
  for (auto* parameter : {integer, string, bytes}) TRITONSERVER_ParameterDelete(parameter);
  EXPECT_EQ(TRITONSERVER_ParameterNew("b", TRITONSERVER_PARAMETER_BYTES, text), nullptr);
  EXPECT_EQ(TRITONSERVER_ParameterNew(nullptr, TRITONSERVER_PARAMETER_STRING, text), nullptr);
  EXPECT_EQ(TRITONSERVER_ParameterNew("s", TRITONSERVER_PARAMETER_STRING, nullptr), nullptr);
  EXPECT_EQ(TRITONSERVER_ParameterBytesNew("b", nullptr, 1), nullptr);
  TRITONSERVER_ParameterDelete(nullptr);
}

TEST(MessageTest, KeepsItsText) {
  TRITONSERVER_Message* message = nullptr;
  std::string text = R"({"a": [1]})";
  ASSERT_EQ(TRITONSERVER_MessageNewFromSerializedJson(&message, text.data(), text.size()), nullptr);
  text.assign(text.size(), '#');
  const char* base = nullptr;
  size_t size = 0;
  ASSERT_EQ(TRITONSERVER_MessageSerializeToJson(message, &base, &size), nullptr);
  EXPECT_EQ(std::string(base, size), R"({"a": [1]})");
  EXPECT_EQ(TRITONSERVER_MessageDelete(message), nullptr);
  message = nullptr;
  EXPECT_EQ(CodeOf(TRITONSERVER_MessageNewFromSerializedJson(&message, "[1", 2)),
            TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_EQ(CodeOf(TRITONSERVER_MessageNewFromSerializedJson(&message, nullptr, 0)),
            TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_EQ(message, nullptr);
}

TEST(BufferAttributesTest, SetAndGet) {
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  ASSERT_EQ(TRITONSERVER_BufferAttributesNew(&attributes), nullptr);
  void* handle = &handle;
  ASSERT_EQ(TRITONSERVER_BufferAttributesCudaIpcHandle(attributes, &handle), nullptr);
  EXPECT_EQ(handle, nullptr);
  char ipc[64];
  std::memset(ipc, 'i', sizeof(ipc));
  EXPECT_EQ(TRITONSERVER_BufferAttributesSetCudaIpcHandle(attributes, ipc), nullptr);
  EXPECT_EQ(TRITONSERVER_BufferAttributesSetMemoryType(attributes, TRITONSERVER_MEMORY_GPU),
            nullptr);
  EXPECT_EQ(TRITONSERVER_BufferAttributesSetMemoryTypeId(attributes, 3), nullptr);
  EXPECT_EQ(TRITONSERVER_BufferAttributesSetByteSize(attributes, 99), nullptr);
  std::memset(ipc, 0, sizeof(ipc));
  EXPECT_EQ(TRITONSERVER_BufferAttributesCudaIpcHandle(attributes, &handle), nullptr);
  EXPECT_EQ(std::string(static_cast<char*>(handle), 64), std::string(64, 'i'));
  TRITONSERVER_MemoryType type;
  int64_t id = 0;
  size_t size = 0;
  EXPECT_EQ(TRITONSERVER_BufferAttributesMemoryType(attributes, &type), nullptr);
  EXPECT_EQ(TRITONSERVER_BufferAttributesMemoryTypeId(attributes, &id), nullptr);
  EXPECT_EQ(TRITONSERVER_BufferAttributesByteSize(attributes, &size), nullptr);
  EXPECT_EQ(type, TRITONSERVER_MEMORY_GPU);
  EXPECT_EQ(id, 3);
  EXPECT_EQ(size, 99u);
  EXPECT_EQ(CodeOf(TRITONSERVER_BufferAttributesSetMemoryType(
                attributes, static_cast<TRITONSERVER_MemoryType>(8))),
            TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_EQ(CodeOf(TRITONSERVER_BufferAttributesByteSize(nullptr, &size)),
            TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_EQ(TRITONSERVER_BufferAttributesDelete(attributes), nullptr);
}

TEST(ResponseAllocatorTest, RequiresTwoCallbacks) {
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  TRITONSERVER_Error* error =
      TRITONSERVER_ResponseAllocatorNew(&allocator, nullptr, nullptr, nullptr);
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_INVALID_ARG);
  EXPECT_EQ(TextOf(error),
            "TRITONSERVER_ResponseAllocatorNew: argument 'alloc_fn' must not be NULL");
  EXPECT_EQ(allocator, nullptr);
}

TEST(MetricsTest, FormatsItsText) {
  auto* metrics = new TRITONSERVER_Metrics{"a 1\n"};
  const char* base = nullptr;
  size_t size = 0;
  ASSERT_EQ(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size),
            nullptr);
  EXPECT_EQ(std::string(base, size), "a 1\n");
  EXPECT_EQ(TextOf(TRITONSERVER_MetricsFormatted(metrics, static_cast<TRITONSERVER_MetricFormat>(4),
                                                 &base, &size)),
            "unknown metrics format '4'");
  EXPECT_EQ(TRITONSERVER_MetricsDelete(metrics), nullptr);
}

TEST(LogTest, WritesEnabledLevels) {
  const std::string path = ::testing::TempDir() + "nereid_abi_log_test.txt";
  std::remove(path.c_str());
  ASSERT_TRUE(base::Log::Instance().SetFile(path).ok());
  EXPECT_FALSE(TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_VERBOSE));
  EXPECT_TRUE(TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_WARN));
  EXPECT_EQ(TRITONSERVER_LogMessage(TRITONSERVER_LOG_WARN, "plug.cc", 12, "watch out"), nullptr);
  EXPECT_EQ(TRITONSERVER_LogMessage(TRITONSERVER_LOG_VERBOSE, "plug.cc", 13, "chatter"), nullptr);
  EXPECT_EQ(TextOf(TRITONSERVER_LogMessage(static_cast<TRITONSERVER_LogLevel>(9), "f", 1, "m")),
            "unknown logging level '9'");
  EXPECT_FALSE(TRITONSERVER_LogIsEnabled(static_cast<TRITONSERVER_LogLevel>(9)));
  ASSERT_TRUE(base::Log::Instance().SetFile("").ok());
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("plug.cc:12] \"watch out\""), std::string::npos) << text.str();
  EXPECT_EQ(text.str().find("chatter"), std::string::npos);
  std::remove(path.c_str());
}

TEST(MissingFeatureTest, NamesTheFeature) {
  TRITONSERVER_Error* error = MissingFeature("TRITONSERVER_Something", "a feature");
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_UNSUPPORTED);
  const std::string text = TextOf(error);
  EXPECT_NE(text.find("TRITONSERVER_Something"), std::string::npos) << text;
  EXPECT_NE(text.find("a feature"), std::string::npos) << text;
}

TEST(CheckNotNullTest, TheFirstNullArgumentIsNamed) {
  int value = 0;
  const char* const none = nullptr;
  void (*const no_function)() = nullptr;
  // The names are so long that the list takes two lines, as in real functions.
  const auto check = [](auto the_first_argument_of_the_function,
                        auto the_second_argument_of_the_function,
                        auto the_third_argument_of_the_function) -> TRITONSERVER_Error* {
    NEREID_CHECK_NOT_NULL(the_first_argument_of_the_function, the_second_argument_of_the_function,
                          the_third_argument_of_the_function);
    return nullptr;
  };
  EXPECT_EQ(check(&value, &value, "text"), nullptr);
  EXPECT_EQ(TakeStatus(check(none, no_function, &value)).message(),
            "operator(): argument 'the_first_argument_of_the_function' must not be NULL");
  EXPECT_EQ(TakeStatus(check(&value, no_function, none)).message(),
            "operator(): argument 'the_second_argument_of_the_function' must not be NULL");
  EXPECT_EQ(TakeStatus(check(&value, &value, none)).message(),
            "operator(): argument 'the_third_argument_of_the_function' must not be NULL");
}

TEST(HandleTest, WrapAndUnwrapAreInverse) {
  memory::BufferAttributes attributes;
  auto* const handle = Wrap<TRITONSERVER_BufferAttributes>(&attributes);
  EXPECT_EQ(&Unwrap(handle), &attributes);
  EXPECT_EQ(Wrap<TRITONSERVER_BufferAttributes>(nullptr), nullptr);
}

TEST(TensorTypesTest, NumbersThatAreNoEnumeratorsAreInvalid) {
  EXPECT_EQ(ToDataType(TRITONSERVER_TYPE_BF16), tensor::DataType::kBf16);
  EXPECT_EQ(ToDataType(tensor::DataType::kBytes), TRITONSERVER_TYPE_BYTES);
  EXPECT_EQ(ToDataType(static_cast<TRITONSERVER_DataType>(-1)), tensor::DataType::kInvalid);
  EXPECT_EQ(ToDataType(static_cast<TRITONSERVER_DataType>(TRITONSERVER_TYPE_BF16 + 1)),
            tensor::DataType::kInvalid);
  EXPECT_FALSE(IsMemoryType(static_cast<TRITONSERVER_MemoryType>(3)));
  EXPECT_TRUE(IsMemoryType(TRITONSERVER_MEMORY_GPU));
}

}  // namespace
}  // namespace nereid::abi
