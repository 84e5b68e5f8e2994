// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "repository/storage/azure_list.h"
#include "repository/storage/digests.h"
#include "repository/storage/gcs_list.h"
#include "repository/storage/s3_list.h"

namespace nereid::repository::storage {
namespace {

using base::StatusCode;

/// Returns a page as text, for comparison: "key size version checksum; …| directories | next".
std::string TextOf(const base::Result<ObjectPage>& page) {
  if (!page.ok()) return "error " + page.status().message();
  std::string text;
  for (const ObjectInfo& object : page->objects) {
    text += object.key + " " + std::to_string(object.size) + " " + object.version;
    if (object.checksum) {
      const bool is_md5 = object.checksum->kind == ObjectChecksum::Kind::kMd5;
      text += (is_md5 ? " md5:" : " crc32c:") + HexOf(object.checksum->bytes);
    }
    text += "; ";
  }
  text += "|";
  for (const std::string& directory : page->directories) text += " " + directory;
  return text + " | " + page->next_page;
}

/// Every beginning of a good document must be refused.
template <typename Parse>
void ExpectNoBeginningIsAccepted(const std::string& document, Parse parse) {
  ASSERT_TRUE(parse(document).ok()) << parse(document).status().message();
  const size_t last = document.find_last_of(">}");
  for (size_t size = 0; size < last; ++size) {
    EXPECT_FALSE(parse(document.substr(0, size)).ok()) << size;
  }
}

const std::string kS3 =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>"
    "<Prefix>m%2F</Prefix><KeyCount>3</KeyCount><MaxKeys>1000</MaxKeys>"
    "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
    "<NextContinuationToken>1a+/=</NextContinuationToken>"
    "<Contents><Key>m%2Fa+b%2B%26</Key><Size>12</Size>"
    "<ETag>&quot;0123456789abcdef0123456789ABCDEF&quot;</ETag></Contents>"
    "<Contents><Key>m/big</Key><Size>18446744073709551615</Size><ETag>\"00-3\"</ETag></Contents>"
    "<CommonPrefixes><Prefix>m%2Fx%2F</Prefix></CommonPrefixes></ListBucketResult>";

TEST(ParseS3List, ReadsAPage) {
  EXPECT_EQ(TextOf(ParseS3List(kS3)),
            "m/a b+& 12 0123456789abcdef0123456789ABCDEF md5:0123456789abcdef0123456789abcdef; "
            "m/big 18446744073709551615 00-3; | m/x/ | 1a+/=");
  EXPECT_EQ(TextOf(ParseS3List("<ListBucketResult><IsTruncated>false</IsTruncated>"
                               "<NextContinuationToken>x</NextContinuationToken>"
                               "<Contents><Key>a%2Fb+c</Key><Size>0</Size><ETag>v</ETag>"
                               "</Contents></ListBucketResult>")),
            "a%2Fb+c 0 v; | | ")
      << "names are decoded only if the store says so";
}

TEST(ParseS3List, RefusesWhatIsNoList) {
  ExpectNoBeginningIsAccepted(kS3, ParseS3List);
  const auto entry = [](const std::string& content) {
    return ParseS3List("<ListBucketResult>" + content + "</ListBucketResult>").status().code();
  };
  EXPECT_EQ(entry(""), StatusCode::kOk);
  for (const char* bad :
       {"<Contents/>", "<Contents><Key>a</Key></Contents>", "<Contents><Size>1</Size></Contents>",
        "<Contents><Key>a</Key><Size>-1</Size></Contents>",
        "<Contents><Key>a</Key><Size>18446744073709551616</Size></Contents>",
        "<Contents><Key>a</Key><Size>1e3</Size></Contents>",
        "<EncodingType>url</EncodingType><Contents><Key>%zz</Key><Size>1</Size></Contents>",
        "<CommonPrefixes/>", "<IsTruncated>true</IsTruncated>"}) {
    EXPECT_EQ(entry(bad), StatusCode::kInternal) << bad;
  }
  for (const char* bad : {"", "{}", "<html/>", "<Error><Code>x</Code></Error>", "<a>", "<a></b>"}) {
    EXPECT_EQ(ParseS3List(bad).status().code(), StatusCode::kInternal) << bad;
  }
}

TEST(ParseS3List, ExpandsNoEntities) {
  const std::string bomb =
      "<!DOCTYPE a [<!ENTITY b \"0123456789\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\">]>";
  const std::string list =
      "<ListBucketResult><Contents><Key>&c;</Key><Size>1</Size><ETag>v</ETag></Contents>"
      "</ListBucketResult>";
  EXPECT_EQ(ParseS3List(bomb + list).status().code(), StatusCode::kInternal);
  EXPECT_EQ(TextOf(ParseS3List(list)), "&c; 1 v; | | ");
}

TEST(ParseS3List, NestingIsHarmless) {
  std::string deep;
  for (int i = 0; i < 500'000; ++i) deep += "<a>";
  EXPECT_EQ(ParseS3List(deep).status().code(), StatusCode::kInternal);
}

const std::string kAzure =
    "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults "
    "ServiceEndpoint=\"https://a.blob.core.windows.net/\" ContainerName=\"c\"><Prefix>m/</Prefix>"
    "<Blobs><Blob><Name>m/a &amp; b</Name><Properties><Etag>0x8DC</Etag>"
    "<Content-Length>7</Content-Length><Content-MD5>ASNFZ4mrze8BI0VniavN7w==</Content-MD5>"
    "</Properties></Blob>"
    "<Blob><Name Encoded=\"true\">m/%EF%BF%BE</Name><Properties><Content-Length>1</Content-Length>"
    "<Etag>\"0x1\"</Etag><Content-MD5 /></Properties></Blob>"
    "<Blob><Name>m/1</Name><Properties><Content-Length>0</Content-Length><Etag>e</Etag>"
    "<ResourceType>directory</ResourceType></Properties></Blob>"
    "<BlobPrefix><Name>m/x/</Name></BlobPrefix></Blobs><NextMarker>2!92!</NextMarker>"
    "</EnumerationResults>";

TEST(ParseAzureList, ReadsAPage) {
  EXPECT_EQ(TextOf(ParseAzureList(kAzure)),
            "m/a & b 7 0x8DC md5:0123456789abcdef0123456789abcdef; m/\xEF\xBF\xBE 1 0x1; "
            "m/1/ 0 e; | m/x/ | 2!92!");
  EXPECT_EQ(TextOf(ParseAzureList("<EnumerationResults><Blobs /><NextMarker />"
                                  "</EnumerationResults>")),
            "| | ");
}

TEST(ParseAzureList, RefusesWhatIsNoList) {
  ExpectNoBeginningIsAccepted(kAzure, ParseAzureList);
  const auto entry = [](const std::string& content) {
    return ParseAzureList("<EnumerationResults><Blobs>" + content + "</Blobs></EnumerationResults>")
        .status()
        .code();
  };
  EXPECT_EQ(entry(""), StatusCode::kOk);
  for (const char* bad :
       {"<Blob/>", "<Blob><Name>a</Name></Blob>",
        "<Blob><Name>a</Name><Properties><Content-Length>x</Content-Length></Properties></Blob>",
        "<Blob><Name Encoded='true'>%</Name><Properties><Content-Length>1</Content-Length>"
        "</Properties></Blob>",
        "<BlobPrefix/>"}) {
    EXPECT_EQ(entry(bad), StatusCode::kInternal) << bad;
  }
}

const std::string kGcs =
    R"({"kind": "storage#objects", "nextPageToken": "Cg==", "prefixes": ["m/x/"], "items": [)"
    R"({"name": "m/a\u00e9", "size": "12", "generation": "1700000000000001",)"
    R"( "md5Hash": "ASNFZ4mrze8BI0VniavN7w==", "crc32c": "AAAAAA=="},)"
    R"({"name": "m/composed", "size": 3, "generation": "5", "crc32c": "ASNFZw=="}]})";

TEST(ParseGcsList, ReadsAPage) {
  EXPECT_EQ(TextOf(ParseGcsList(kGcs)),
            "m/a\xC3\xA9 12 1700000000000001 md5:0123456789abcdef0123456789abcdef; "
            "m/composed 3 5 crc32c:01234567; | m/x/ | Cg==");
  EXPECT_EQ(TextOf(ParseGcsList("{}")), "| | ");
}

TEST(ParseGcsList, RefusesWhatIsNoList) {
  ExpectNoBeginningIsAccepted(kGcs, ParseGcsList);
  for (const char* bad :
       {"", "[]", "null", "{\"items\": {}}", "{\"items\": \"a\"}", "{\"items\": [1]}",
        "{\"items\": [[]]}", "{\"items\": [{}]}", "{\"items\": [{\"name\": \"a\"}]}",
        "{\"items\": [{\"name\": 5, \"size\": \"1\"}]}",
        "{\"items\": [{\"name\": \"a\", \"size\": \"-1\"}]}",
        "{\"items\": [{\"name\": \"a\", \"size\": -1}]}",
        "{\"items\": [{\"name\": \"a\", \"size\": 1.5}]}", "{\"prefixes\": [1]}",
        "{\"prefixes\": \"a/\"}", "{} {}"}) {
    EXPECT_EQ(ParseGcsList(bad).status().code(), StatusCode::kInternal) << bad;
  }
  EXPECT_EQ(ParseGcsList(std::string(500'000, '[')).status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace nereid::repository::storage
