// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/client_socket.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>

namespace nereid::frontend::http {

void ClientSocket::Prepare() {
  boost::system::error_code ignored;
  socket_.native_non_blocking(true, ignored);
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  // Finds clients whose hosts have vanished without a FIN or RST.
  socket_.set_option(boost::asio::socket_base::keep_alive(true), ignored);
}

ClientSocket::Received ClientSocket::Receive(std::span<char> room) {
  while (true) {
    const ssize_t got = recv(socket_.native_handle(), room.data(), room.size(), 0);
    if (got > 0) return {.size = static_cast<size_t>(got)};
    if (got == 0) return {.end = true};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {};
    if (errno != EINTR) return {.lost = true};
  }
}

ClientSocket::Sent ClientSocket::Send(std::span<iovec> pieces) {
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  while (true) {
    const ssize_t sent = sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
    if (sent >= 0) return {.size = static_cast<size_t>(sent)};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {.full = true};
    if (errno != EINTR) return {.lost = true};
  }
}

void ClientSocket::SendContinue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  // 25 bytes into a buffer that is empty: a client for which they do not fit waits for them in
  // vain, and sends its body after a while (RFC 9110, section 10.1.1).
  (void)!send(socket_.native_handle(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
}

void ClientSocket::FinishSending() {
  boost::system::error_code ignored;
  socket_.shutdown(net::Socket::shutdown_send, ignored);
}

bool ClientSocket::IsLost() const {
  pollfd state{const_cast<net::Socket&>(socket_).native_handle(), 0, 0};
  return poll(&state, 1, 0) > 0;  // POLLERR and POLLHUP are reported without being asked for
}

void ClientSocket::KeepAliveOften() {
  constexpr int kSeconds = 15;
  const int socket = socket_.native_handle();
  (void)!setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kSeconds, sizeof(kSeconds));
  (void)!setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kSeconds, sizeof(kSeconds));
}

void ClientSocket::Close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
}

}  // namespace nereid::frontend::http
