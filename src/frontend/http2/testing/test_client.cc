// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/testing/test_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace nereid::frontend::http2::testing {
namespace {

int Connect(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    std::perror("connect");
    std::abort();
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

uint32_t LengthAt(std::string_view body, size_t at) {
  uint32_t size = 0;
  for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<uint8_t>(body[at + 1 + i]);
  return size;
}

nghttp2_nv Header(const std::string& name, const std::string& value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

std::string Reply::Field(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

int Reply::status() const {
  const auto found = headers.find("grpc-status");
  return found == headers.end() ? -1 : std::atoi(found->second.c_str());
}

std::string Reply::message() const {
  const auto found = headers.find("grpc-message");
  if (found == headers.end()) return "";
  std::string text;
  for (size_t i = 0; i < found->second.size(); ++i) {
    if (found->second[i] == '%') {
      text.push_back(static_cast<char>(std::stoi(found->second.substr(i + 1, 2), nullptr, 16)));
      i += 2;
    } else {
      text.push_back(found->second[i]);
    }
  }
  return text;
}

std::vector<std::string> Reply::messages() const {
  std::vector<std::string> found;
  size_t at = 0;
  while (body.size() - at >= 5) {
    const uint32_t size = LengthAt(body, at);
    if (body.size() - at - 5 < size) break;
    found.push_back(body.substr(at + 5, size));
    at += 5 + size;
  }
  return found;
}

std::string Frame(std::string_view body, bool compressed) {
  std::string framed(1, compressed ? '\1' : '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    framed.push_back(static_cast<char>(body.size() >> shift));
  }
  return framed.append(body);
}

struct ClientCallbacks {
  static TestClient& Of(void* user_data) { return *static_cast<TestClient*>(user_data); }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    Reply& reply = Of(user_data).streams_[frame->hd.stream_id].reply;
    const std::string key(reinterpret_cast<const char*>(name), name_size);
    reply.headers[key] = std::string(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") reply.statuses.push_back(reply.headers[key]);
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size,
                    void* user_data) {
    Of(user_data).streams_[stream].reply.body.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    const bool is_ack = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    if (frame->hd.type == NGHTTP2_PING && is_ack) ++Of(user_data).answered_pings_;
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      Of(user_data).going_away_ = true;
      Of(user_data).goaway_error_ = frame->goaway.error_code;
    }
    return 0;
  }

  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* user_data) {
    Reply& reply = Of(user_data).streams_[stream].reply;
    reply.closed = true;
    reply.error_code = error;
    return 0;
  }

  static ssize_t Read(nghttp2_session*, int32_t stream, uint8_t* to, size_t length, uint32_t* flags,
                      nghttp2_data_source*, void* user_data) {
    TestClient::Stream& state = Of(user_data).streams_[stream];
    const size_t size = std::min(length, state.unsent.size() - state.sent);
    if (size == 0 && !state.end) return NGHTTP2_ERR_DEFERRED;
    if (size > 0) std::memcpy(to, state.unsent.data() + state.sent, size);
    state.sent += size;
    if (state.end && state.sent == state.unsent.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }
};

TestClient::TestClient(uint16_t port, uint32_t window) : socket_(Connect(port)) {
  nghttp2_session_callbacks_new(&callbacks_);
  nghttp2_session_callbacks_set_on_header_callback(callbacks_, ClientCallbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks_, ClientCallbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks_, ClientCallbacks::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks_, ClientCallbacks::OnClose);
  nghttp2_session_client_new(&session_, callbacks_, this);
  SetWindow(window);
  // All calls together: no limit that a test would notice.
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, 0x7fffffff);
  SendAll();
}

TestClient::~TestClient() {
  nghttp2_session_del(session_);
  nghttp2_session_callbacks_del(callbacks_);
  close(socket_);
}

int32_t TestClient::Open(const std::string& path, const Headers& extra) {
  Headers headers = {{":method", "POST"},
                     {":scheme", "http"},
                     {":path", path},
                     {":authority", "localhost"},
                     {"content-type", "application/grpc"},
                     {"te", "trailers"}};
  for (const auto& header : extra) {
    const auto same = std::find_if(headers.begin(), headers.end(),
                                   [&](const auto& other) { return other.first == header.first; });
    if (same == headers.end()) {
      headers.push_back(header);
    } else {
      same->second = header.second;
    }
  }
  return Submit(headers, /*has_body=*/true);
}

int32_t TestClient::Submit(const Headers& headers, bool has_body) {
  std::vector<nghttp2_nv> values;
  for (const auto& [name, value] : headers) values.push_back(Header(name, value));
  nghttp2_data_provider provider = {};
  provider.read_callback = ClientCallbacks::Read;
  const int32_t stream = nghttp2_submit_request(session_, nullptr, values.data(), values.size(),
                                                has_body ? &provider : nullptr, nullptr);
  streams_[stream];
  SendAll();
  return stream;
}

int32_t TestClient::OpenRequest(const std::string& method, const std::string& path,
                                const Headers& extra) {
  Headers headers = {
      {":method", method}, {":scheme", "http"}, {":path", path}, {":authority", "localhost"}};
  headers.insert(headers.end(), extra.begin(), extra.end());
  return Submit(headers, /*has_body=*/true);
}

Reply TestClient::Request(const std::string& method, const std::string& path, std::string_view body,
                          const Headers& extra) {
  int32_t stream = 0;
  if (body.empty()) {
    Headers headers = {
        {":method", method}, {":scheme", "http"}, {":path", path}, {":authority", "localhost"}};
    headers.insert(headers.end(), extra.begin(), extra.end());
    stream = Submit(headers, /*has_body=*/false);
  } else {
    stream = OpenRequest(method, path, extra);
    Send(stream, std::string(body), /*end=*/true);
  }
  Reply reply = Finish(stream);
  streams_.erase(stream);
  return reply;
}

void TestClient::Send(int32_t stream, std::string bytes, bool end) {
  Stream& state = streams_[stream];
  state.unsent.append(bytes);
  state.end = end;
  nghttp2_session_resume_data(session_, stream);
  SendAll();
}

void TestClient::Reset(int32_t stream) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
  SendAll();
}

void TestClient::Ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  SendAll();
}

void TestClient::SetWindow(uint32_t window) {
  const nghttp2_settings_entry entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &entry, 1);
  SendAll();
}

void TestClient::RoundTrip() {
  const int before = answered_pings_;
  Ping();
  while (answered_pings_ == before && ReceiveSome()) {
  }
}

const Reply& TestClient::Finish(int32_t stream) {
  const Reply& reply = streams_[stream].reply;
  while (!reply.closed && ReceiveSome()) {
  }
  return reply;
}

const Reply& TestClient::WaitForMessages(int32_t stream, size_t count) {
  const Reply& reply = streams_[stream].reply;
  while (!reply.closed && reply.messages().size() < count && ReceiveSome()) {
  }
  return reply;
}

const Reply& TestClient::WaitForBody(int32_t stream, size_t size) {
  const Reply& reply = streams_[stream].reply;
  while (!reply.closed && reply.body.size() < size && ReceiveSome()) {
  }
  return reply;
}

void TestClient::WaitForGoAway() {
  while (!going_away_ && ReceiveSome()) {
  }
}

void TestClient::WaitForClose() {
  while (ReceiveSome()) {
  }
}

Reply TestClient::Unary(const std::string& path, std::string_view message, const Headers& extra) {
  const int32_t stream = Open(path, extra);
  Send(stream, Frame(message), /*end=*/true);
  Reply reply = Finish(stream);
  streams_.erase(stream);
  return reply;
}

void TestClient::SendAll() {
  const uint8_t* data = nullptr;
  ssize_t size = 0;
  while (connected_ && (size = nghttp2_session_mem_send(session_, &data)) > 0) {
    connected_ =
        WriteAll(socket_, {reinterpret_cast<const char*>(data), static_cast<size_t>(size)});
  }
}

bool TestClient::ReceiveSome() {
  char buffer[65536];
  const ssize_t size = recv(socket_, buffer, sizeof(buffer), 0);
  if (size <= 0) {
    connected_ = false;
    return false;
  }
  nghttp2_session_mem_recv(session_, reinterpret_cast<uint8_t*>(buffer), static_cast<size_t>(size));
  SendAll();
  return true;
}

RawClient::RawClient(uint16_t port) : socket_(Connect(port)) {}
RawClient::~RawClient() { close(socket_); }
bool RawClient::Send(std::string_view bytes) { return WriteAll(socket_, bytes); }
void RawClient::HalfClose() { shutdown(socket_, SHUT_WR); }
std::string RawClient::ReadToEnd() {
  std::string all;
  char buffer[65536];
  ssize_t size = 0;
  while ((size = recv(socket_, buffer, sizeof(buffer), 0)) > 0) {
    all.append(buffer, static_cast<size_t>(size));
  }
  return all;
}

}  // namespace nereid::frontend::http2::testing
