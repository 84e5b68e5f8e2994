// SPDX-License-Identifier: Apache-2.0
#include "app/process_terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <string_view>

namespace nereid::app {
namespace {

constexpr std::string_view kSecondScreen = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view kFirstScreen = "\x1b[?25h\x1b[?1049l";
constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr char kCtrlC = 3;

std::atomic<bool> ended{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void OnEndingSignal(int) { ended = true; }

void Write(std::string_view text) {
  // A terminal that is gone needs no text.
  (void)!write(STDOUT_FILENO, text.data(), text.size());
}

}  // namespace

tools::Terminal::Size ProcessTerminal::GetSize() const {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {80, 24};
  // Zeros come from terminals that do not know their size.
  return {size.ws_col == 0 ? size_t{80} : size.ws_col, size.ws_row == 0 ? size_t{24} : size.ws_row};
}

void ProcessTerminal::Enter() {
  if (entered_) return;
  entered_ = true;
  struct sigaction action {};
  action.sa_handler = OnEndingSignal;  // without SA_RESTART, so that poll(2) ends
  for (const int signal : kEndingSignals) sigaction(signal, &action, nullptr);
  has_keys_ = tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios raw = before_;
    // ISIG stays off: Ctrl-C arrives as a key, and Ctrl-Z cannot leave the second screen behind.
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  Write(kSecondScreen);
}

void ProcessTerminal::Leave() {
  if (!entered_) return;
  entered_ = false;
  Write(kFirstScreen);
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  for (const int signal : kEndingSignals) ::signal(signal, SIG_DFL);
}

std::optional<char> ProcessTerminal::WaitForKey(std::chrono::milliseconds time) {
  if (ended) return 'q';
  // Without a keyboard there is only the time and signals.
  pollfd descriptor = {has_keys_ ? STDIN_FILENO : -1, POLLIN, 0};
  const auto wait_ms = static_cast<int>(std::min<long long>(time.count(), INT_MAX));
  const int ready = poll(&descriptor, 1, wait_ms);
  if (ended) return 'q';
  if (ready <= 0) return std::nullopt;
  char key = 0;
  const ssize_t size = read(STDIN_FILENO, &key, 1);
  if (size == 1) return key == kCtrlC ? 'q' : key;
  // Nothing to read although poll(2) says so: the terminal is gone.
  return 'q';
}

}  // namespace nereid::app
