// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/xml_document.h"

#include <string>

#include "base/parse_number.h"

namespace nereid::repository::storage {

base::Status ParseXml(std::string_view text, const char* root_name, pugi::xml_document* document,
                      pugi::xml_node* root) {
  // A name may be one blank: text of blanks is kept where it is all of an element.
  constexpr unsigned kOptions =
      pugi::parse_default | pugi::parse_ws_pcdata_single | pugi::parse_doctype;
  const pugi::xml_parse_result parsed =
      document->load_buffer(text.data(), text.size(), kOptions, pugi::encoding_utf8);
  if (parsed.status == pugi::status_out_of_memory) {
    return base::Status::Unavailable("out of memory");
  }
  const auto bad = [](const std::string& reason) {
    return base::Status::Internal("the store's response is not the XML document expected: " +
                                  reason);
  };
  if (!parsed) {
    return bad(std::string(parsed.description()) + " at byte " + std::to_string(parsed.offset));
  }
  for (const pugi::xml_node& node : document->children()) {
    if (node.type() == pugi::node_doctype) return bad("it has a document type");
  }
  *root = document->document_element();
  if (std::string_view(root->name()) != root_name) {
    return bad(std::string("its root is not the element ") + root_name);
  }
  return {};
}

std::optional<uint64_t> NumberChild(const pugi::xml_node& parent, const char* name) {
  return base::ParseWhole<uint64_t>(parent.child_value(name));
}

}  // namespace nereid::repository::storage
