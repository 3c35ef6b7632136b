// SPDX-License-Identifier: MIT
#include "common/harness/process.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace workshop {
namespace {

constexpr int kNotStarted = 127;  // as a shell says it

/// What the child does with its file descriptors before it starts.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void open_null(int descriptor) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, "/dev/null", O_WRONLY, 0);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// Both ends close themselves in the child: only the duplicate there keeps the pipe open.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
  }
  ~Pipe() {
    close_writing_end();
    close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writing_end() const { return ends_[1]; }
  void close_writing_end() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

  /// Hands on every line until all writers are gone; a last line may lack its end.
  void read_lines(const std::function<void(const std::string&)>& on_line) const {
    std::string line;
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t count = read(ends_[0], bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      for (const char byte : std::string_view(bytes.data(), static_cast<std::size_t>(count))) {
        if (byte != '\n') {
          line += byte;
          continue;
        }
        on_line(line);
        line.clear();
      }
    }
    if (!line.empty()) on_line(line);
  }

 private:
  std::array<int, 2> ends_{};
};

/// @returns the process, or 0 if the program cannot be started
pid_t start(const std::vector<std::string>& words, const FileActions& actions) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  std::fflush(nullptr);  // what we said so far comes before what the child says
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, pointers.front(), actions.get(), nullptr, pointers.data(), environ);
  if (error == EAGAIN || error == ENOMEM) {
    throw std::system_error(error, std::generic_category(), words.front());
  }
  return error == 0 ? child : 0;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int run_process(const std::vector<std::string>& words, const ProcessOptions& options) {
  FileActions actions;
  if (options.on_line) {
    Pipe pipe;
    actions.duplicate(pipe.writing_end(), STDOUT_FILENO);
    const pid_t child = start(words, actions);
    if (child == 0) return kNotStarted;
    pipe.close_writing_end();
    pipe.read_lines(options.on_line);
    return wait_for(child);
  }
  if (options.standard_output == StandardOutput::to_stderr) {
    actions.duplicate(STDERR_FILENO, STDOUT_FILENO);
  } else if (options.standard_output == StandardOutput::null) {
    actions.open_null(STDOUT_FILENO);
  }
  const pid_t child = start(words, actions);
  return child == 0 ? kNotStarted : wait_for(child);
}

}  // namespace workshop
