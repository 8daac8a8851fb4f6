#include "app/platform/child_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace headscope::app {

int spawnProgram(const std::string& program, const std::vector<std::string>& words,
                 const posix_spawn_file_actions_t& files, pid_t& process) {
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t blocked, usual;
  ::sigemptyset(&blocked);
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &blocked);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = ::posix_spawnp(&process, program.c_str(), &files, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

bool ChildProgram::available() {
  return true;
}

attention::Result<std::unique_ptr<ChildProgram>> ChildProgram::start(const std::string& program,
                                                                     const std::vector<std::string>& words,
                                                                     std::function<void()> wake) {
  const auto failed = [](int error) {
    return attention::Error{std::string("the program can't be started again: ") + std::strerror(error)};
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed(errno);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], 2);
  std::unique_ptr<ChildProgram> child(new ChildProgram);
  const int error = spawnProgram(program, words, files, child->process_);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    child->process_ = -1;
    return failed(error);
  }
  child->wake_ = std::move(wake);
  child->listener_ = std::thread([own = child.get(), from = ends[0]] { own->listen(from); });
  return child;
}

ChildProgram::~ChildProgram() {
  stop();
  if (listener_.joinable()) listener_.join();
}

void ChildProgram::stop() {
  const std::lock_guard lock(mutex_);
  // The process id can't be reused before listen() waits for it, under this lock.
  if (process_ > 0 && !ended_) ::kill(process_, SIGTERM);
}

std::string ChildProgram::said() const {
  const std::lock_guard lock(mutex_);
  return said_;
}

std::optional<int> ChildProgram::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void ChildProgram::listen(int from) {
  std::string line;
  char buffer[512];
  for (ssize_t got; (got = ::read(from, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);) {
    for (ssize_t i = 0; i < got; ++i) {
      if (buffer[i] != '\n' && buffer[i] != '\r') {
        line += buffer[i];
      } else if (!line.empty()) {
        const std::lock_guard lock(mutex_);
        said_ = std::exchange(line, {});
      }
    }
    wake_();
  }
  ::close(from);
  int status = 0;
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  {
    const std::lock_guard lock(mutex_);
    ::waitpid(process_, &status, 0);
    ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  wake_();
}

}  // namespace headscope::app
