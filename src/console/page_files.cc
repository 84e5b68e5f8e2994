// SPDX-License-Identifier: Apache-2.0
#include "console/page_files.h"

#include <cstdint>

// The files are taken into the program by the assembler. NEREID_PAGE is their directory; CMake
// compiles this file again when one of them changes.
#define NEREID_PAGE_FILE(symbol, file)                                                         \
  asm(".pushsection .rodata.nereid_page,\"a\",@progbits\n"                                     \
      ".global nereid_page_" #symbol "\n.hidden nereid_page_" #symbol "\nnereid_page_" #symbol \
      ":\n.incbin \"" NEREID_PAGE "/" file "\"\n.global nereid_page_" #symbol                  \
      "_end\n.hidden nereid_page_" #symbol "_end\nnereid_page_" #symbol                        \
      "_end:\n.byte 0\n"                                                                       \
      ".popsection\n");                                                                        \
  extern "C" {                                                                                 \
  __attribute__((visibility("hidden"))) extern const char nereid_page_##symbol[];              \
  __attribute__((visibility("hidden"))) extern const char nereid_page_##symbol##_end[];        \
  }

NEREID_PAGE_FILE(index_html, "index.html")
NEREID_PAGE_FILE(console_css, "console.css")
NEREID_PAGE_FILE(icon_svg, "icon.svg")
NEREID_PAGE_FILE(main_js, "main.js")
NEREID_PAGE_FILE(element_js, "element.js")
NEREID_PAGE_FILE(server_js, "server.js")
NEREID_PAGE_FILE(chart_js, "chart.js")
NEREID_PAGE_FILE(format_js, "format.js")
NEREID_PAGE_FILE(overview_js, "overview.js")
NEREID_PAGE_FILE(model_js, "model.js")
NEREID_PAGE_FILE(manage_js, "manage.js")
NEREID_PAGE_FILE(try_js, "try.js")
NEREID_PAGE_FILE(tensor_js, "tensor.js")
NEREID_PAGE_FILE(answer_js, "answer.js")
NEREID_PAGE_FILE(snippet_js, "snippet.js")
NEREID_PAGE_FILE(log_js, "log.js")
NEREID_PAGE_FILE(stream_js, "stream.js")
NEREID_PAGE_FILE(trace_js, "trace.js")
NEREID_PAGE_FILE(api_js, "api.js")

namespace nereid::console {
namespace {

constexpr std::string_view kScript = "text/javascript; charset=utf-8";

#define NEREID_PAGE_BYTES(symbol)        \
  std::string_view(nereid_page_##symbol, \
                   static_cast<size_t>(nereid_page_##symbol##_end - nereid_page_##symbol))

const PageFile kFiles[] = {
    {"index.html", "text/html; charset=utf-8", NEREID_PAGE_BYTES(index_html)},
    {"console.css", "text/css; charset=utf-8", NEREID_PAGE_BYTES(console_css)},
    {"icon.svg", "image/svg+xml", NEREID_PAGE_BYTES(icon_svg)},
    {"main.js", kScript, NEREID_PAGE_BYTES(main_js)},
    {"element.js", kScript, NEREID_PAGE_BYTES(element_js)},
    {"server.js", kScript, NEREID_PAGE_BYTES(server_js)},
    {"chart.js", kScript, NEREID_PAGE_BYTES(chart_js)},
    {"format.js", kScript, NEREID_PAGE_BYTES(format_js)},
    {"overview.js", kScript, NEREID_PAGE_BYTES(overview_js)},
    {"model.js", kScript, NEREID_PAGE_BYTES(model_js)},
    {"manage.js", kScript, NEREID_PAGE_BYTES(manage_js)},
    {"try.js", kScript, NEREID_PAGE_BYTES(try_js)},
    {"tensor.js", kScript, NEREID_PAGE_BYTES(tensor_js)},
    {"answer.js", kScript, NEREID_PAGE_BYTES(answer_js)},
    {"snippet.js", kScript, NEREID_PAGE_BYTES(snippet_js)},
    {"log.js", kScript, NEREID_PAGE_BYTES(log_js)},
    {"stream.js", kScript, NEREID_PAGE_BYTES(stream_js)},
    {"trace.js", kScript, NEREID_PAGE_BYTES(trace_js)},
    {"api.js", kScript, NEREID_PAGE_BYTES(api_js)},
};

}  // namespace

std::span<const PageFile> AllPageFiles() { return kFiles; }

const PageFile* FindPageFile(std::string_view name) {
  for (const PageFile& file : kFiles) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

std::string EntityTag(std::string_view bytes) {
  // FNV-1a: the tag only has to differ between the versions of a file.
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string tag = "\"";
  for (int shift = 60; shift >= 0; shift -= 4) tag += kDigits[hash >> shift & 15];
  return tag + "\"";
}

bool HasEntityTag(std::string_view if_none_match, std::string_view tag) {
  return if_none_match.find(tag) != std::string_view::npos;
}

std::string_view BrowserRules() {
  return "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
         "img-src 'self' blob:; media-src blob:; connect-src 'self'; form-action 'none'; "
         "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
         "trusted-types 'none'\r\n"
         "Cross-Origin-Opener-Policy: same-origin\r\n"
         "Cross-Origin-Resource-Policy: same-origin\r\n"
         "Referrer-Policy: no-referrer\r\n"
         "X-Content-Type-Options: nosniff\r\n";
}

}  // namespace nereid::console
