#include "app/platform/film_program.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "app/platform/posix/spawn.h"

namespace headscope::app {

using attention::Descriptor;

namespace {

constexpr int kFilm = 3;  ///< the film's descriptor in ffmpeg

/// A file in memory, for what another program prints.
Descriptor memoryFile() {
  return Descriptor(::memfd_create("headscope", MFD_CLOEXEC));
}

std::string textIn(const Descriptor& file) {
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace

struct FilmProgram::State {
  const int film;
  const std::string name = "/dev/fd/3";
  Descriptor said{-1}, printed{-1};
  Descriptor pipe{-1};  ///< ffmpeg's standard input
  pid_t process = -1;
  bool succeeded = false;
};

FilmProgram::FilmProgram(const attention::Replacement& film)
    : state_(std::make_unique<State>(State{film.descriptor()})) {}

FilmProgram::~FilmProgram() {
  (void)end();
}

const std::string& FilmProgram::filmName() const {
  return state_->name;
}

int FilmProgram::run(const std::vector<std::string>& words, bool fed) {
  State& state = *state_;
  // If ffmpeg has ended, writing fails instead of ending this program.
  std::signal(SIGPIPE, SIG_IGN);
  state.said = memoryFile();
  state.printed = memoryFile();
  Descriptor input(-1);
  if (int ends[2]; fed && ::pipe2(ends, O_CLOEXEC) == 0) {
    input = Descriptor(ends[0]);
    state.pipe = Descriptor(ends[1]);
  } else if (!fed) {
    input = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  if (state.said.get() < 0 || state.printed.get() < 0 || input.get() < 0) return errno;
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  const std::pair<int, int> streams[] = {{input.get(), STDIN_FILENO},
                                         {state.printed.get(), STDOUT_FILENO},
                                         {state.said.get(), STDERR_FILENO},
                                         {state.film, kFilm}};
  for (const auto& [from, to] : streams) ::posix_spawn_file_actions_adddup2(&files, from, to);
  const int error = spawnProgram("ffmpeg", words, files, state.process);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) state.process = -1;
  return error;
}

bool FilmProgram::feed(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(state_->pipe.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

bool FilmProgram::end() {
  State& state = *state_;
  if (state.pipe.get() >= 0) (void)state.pipe.close();
  if (state.process < 0) return state.succeeded;
  int status = 0;
  while (::waitpid(state.process, &status, 0) < 0 && errno == EINTR) {
  }
  state.process = -1;
  return state.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string FilmProgram::said() const {
  return textIn(state_->said);
}

std::string FilmProgram::printed() const {
  return textIn(state_->printed);
}

}  // namespace headscope::app
