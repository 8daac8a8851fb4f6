#include "app/platform/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "app/platform/child_program.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"

namespace headscope::app {

void requireAddressSpace(double pictureBytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  // Otherwise each thread reserves an arena as large as it can get, and the total need becomes unpredictable.
  mallopt(M_ARENA_MAX, 1);
  constexpr double kMebibyte = 1 << 20;
  // For OpenGL's compiler and textures, and the stacks of its threads and ours.
  const double threads = 3 * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double needed = (608 + 8 * threads) * kMebibyte + pictureBytes;
  const auto size = static_cast<std::size_t>(needed);
  void* const room = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    throw std::runtime_error(
        fmt::format("drawing needs about {:.0f} MB of address space, more than its limit (ulimit -v) leaves",
                    needed / kMebibyte + 110));
  munmap(room, size);
}

namespace {

using Ended = std::weak_ptr<std::function<void()>>;

void callEnded(int, void* argument) {
  const std::unique_ptr<Ended> ended(static_cast<Ended*>(argument));
  if (const auto call = ended->lock()) (*call)();
}

}  // namespace

ExitWatch::ExitWatch(std::function<void()> ended)
    : ended_(std::make_shared<std::function<void()>>(std::move(ended))) {
  auto weak = std::make_unique<Ended>(ended_);
  if (::on_exit(callEnded, weak.get()) == 0) (void)weak.release();
}

ExitWatch::~ExitWatch() = default;

QuitSignals::QuitSignals(std::function<void(int)> asked) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGUSR2);  // wakes the thread when it is to end; anyone may send it
  std::signal(SIGPIPE, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // If blocked, an ignored signal would stay pending and be delivered after all.
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_IGN)
      sigaddset(&watched, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched, &before_);
  thread_ = std::thread([this, asked = std::move(asked), watched] {
    for (int signal = 0; sigwait(&watched, &signal) == 0 && !over_;)
      if (signal != SIGUSR2) asked(signal);
  });
}

QuitSignals::~QuitSignals() {
  over_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

using attention::Error;
using attention::Status;

namespace {

/// ffmpeg's options for one file format.
struct FilmFormat {
  const char *ending, *name;
  std::vector<const char*> options;
};

const std::array<FilmFormat, 3>& filmFormats() {
  // MP4's colour format needs even sides, so frames are padded. A GIF has a palette per frame, so that no
  // frame has to be kept until the last one.
  static const std::array<FilmFormat, 3> kFormats{
      FilmFormat{".mp4",
                 "mp4",
                 {"-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-preset", "veryfast", "-crf",
                  "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart"}},
      FilmFormat{".webm",
                 "webm",
                 {"-c:v", "libvpx-vp9", "-crf", "24", "-b:v", "0", "-deadline", "realtime", "-cpu-used", "6",
                  "-row-mt", "1", "-pix_fmt", "yuv420p"}},
      FilmFormat{
          ".gif",
          "gif",
          {"-filter_complex", "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"}}};
  return kFormats;
}

/// The ending that a folder of frames may have.
constexpr const char* kFolderEnding = ".frames";

class PngFolder : public FrameSink {
 public:
  explicit PngFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  static attention::Result<std::unique_ptr<FrameSink>> open(const std::filesystem::path& folder) {
    std::error_code error;
    if (std::filesystem::exists(folder, error) &&
        (!std::filesystem::is_directory(folder, error) || !std::filesystem::is_empty(folder, error)))
      return Error{folder.string() + " is not empty, expected a new or empty folder"};
    return std::unique_ptr<FrameSink>(std::make_unique<PngFolder>(folder));
  }

  Status add(const render::Image& frame) override {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) return Error{folder_.string() + ": " + error.message()};
    return attention::writeFile(folder_ / fmt::format("frame-{:05}.png", ++count_), render::encodePng(frame));
  }
  Status finish() override { return attention::success(); }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
};

/// A file in memory, for what another program prints.
attention::Descriptor memoryFile() {
  return attention::Descriptor(::memfd_create("headscope", MFD_CLOEXEC));
}

/// Returns what a memory file holds, up to 64 KiB.
std::string textIn(const attention::Descriptor& file) {
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

/// Returns the last number after `name` in ffmpeg's report of its progress; 0 if there is none.
std::int64_t lastNumber(const std::string& report, const std::string& name) {
  const std::size_t at = report.rfind(name);
  return at == std::string::npos ? 0 : std::strtoll(report.c_str() + at + name.size(), nullptr, 10);
}

/// A pipe to ffmpeg, which writes to a file that has no name until it is complete.
class Ffmpeg : public FrameSink {
 public:
  static attention::Result<std::unique_ptr<FrameSink>> open(const Recording& recording,
                                                            const FilmFormat& format) {
    auto file = attention::Replacement::of(recording.path);
    if (!file) return file.error();
    std::unique_ptr<Ffmpeg> made(new Ffmpeg(recording.path, *std::move(file)));
    if (const Status started = made->start(recording, format); !started) return started.error();
    return std::unique_ptr<FrameSink>(std::move(made));
  }
  ~Ffmpeg() override { end(); }

  Status add(const render::Image& frame) override {
    for (std::size_t done = 0; done < frame.rgba.size();) {
      const ssize_t written = ::write(pipe_.get(), frame.rgba.data() + done, frame.rgba.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed();
      done += static_cast<std::size_t>(written);
    }
    ++frames_;
    return attention::success();
  }

  Status finish() override {
    if (!ended()) return failed();
    if (const Status whole = countFrames(); !whole) return whole;
    return file_.complete();
  }

 private:
  static constexpr int kFilm = 3;  ///< the film's descriptor in ffmpeg
  static constexpr const char* kFilmName = "/dev/fd/3";

  Ffmpeg(std::filesystem::path path, attention::Replacement file)
      : path_(std::move(path)), file_(std::move(file)), said_(memoryFile()) {}

  Status start(const Recording& recording, const FilmFormat& format) {
    // If ffmpeg has ended, writing fails instead of ending this program.
    std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (said_.get() < 0 || ::pipe2(ends, O_CLOEXEC) != 0)
      return Error{std::string("ffmpeg: ") + std::strerror(errno)};
    const attention::Descriptor input(ends[0]);
    pipe_ = attention::Descriptor(ends[1]);
    std::vector<std::string> words{"-y",
                                   "-f",
                                   "rawvideo",
                                   "-pix_fmt",
                                   "rgba",
                                   "-s",
                                   fmt::format("{}x{}", recording.width, recording.height),
                                   "-framerate",
                                   std::to_string(recording.framesPerSecond),
                                   "-i",
                                   "pipe:0"};
    words.insert(words.end(), format.options.begin(), format.options.end());
    words.insert(words.end(), {"-an", "-f", format.name, kFilmName});
    const int error = run(words, input.get(), said_.get());
    if (error == 0) return attention::success();
    if (error != ENOENT) return Error{std::string("ffmpeg: ") + std::strerror(error)};
    return Error{"ffmpeg isn't installed, which writes " + std::string(format.ending) +
                 " files; install it, or name a folder to write PNG frames into"};
  }

  /// Starts ffmpeg with these descriptors as its standard input and output. Returns 0 or the error number.
  int run(std::vector<std::string> words, int input, int output) {
    words.insert(words.begin(), {"-hide_banner", "-loglevel", "error"});
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, said_.get(), STDERR_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, file_.descriptor(), kFilm);
    const int error = spawnProgram("ffmpeg", words, files, process_);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) process_ = -1;
    return error;
  }

  /// Closes the pipe and waits for ffmpeg to end.
  void end() {
    if (pipe_.get() >= 0) (void)pipe_.close();
    if (process_ < 0) return;
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    succeeded_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  /// Whether ffmpeg has ended without an error. On a full disk it says so, and still exits with 0.
  bool ended() {
    end();
    return succeeded_ && textIn(said_).empty();
  }

  /// Reads the film back, so that none with missing frames replaces an older one.
  Status countFrames() {
    const attention::Descriptor report = memoryFile(), nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const int error = run({"-nostdin", "-i", kFilmName, "-map", "0:v:0", "-c", "copy", "-f", "null",
                           "-progress", "pipe:1", "-nostats", "/dev/null"},
                          nothing.get(), report.get());
    if (error != 0) return Error{std::string("ffmpeg: ") + std::strerror(error)};
    if (!ended()) return failed();
    const std::int64_t found = lastNumber(textIn(report), "frame=");
    if (found >= frames_) return attention::success();
    return Error{fmt::format("ffmpeg could not write {}: the film has {} of {} frames",
                             path_.filename().string(), found, frames_)};
  }

  /// Returns an error with the first line of ffmpeg's message.
  Error failed() {
    end();
    const std::string said = textIn(said_), line = said.substr(0, said.find('\n'));
    return Error{"ffmpeg could not write " + path_.filename().string() + ": " +
                 (line.empty() ? "it ended without a message" : line)};
  }

  std::filesystem::path path_;
  attention::Replacement file_;
  attention::Descriptor said_;      ///< ffmpeg's standard error
  attention::Descriptor pipe_{-1};  ///< ffmpeg's standard input
  pid_t process_ = -1;
  bool succeeded_ = false;
  std::int64_t frames_ = 0;
};

}  // namespace

attention::Result<std::unique_ptr<FrameSink>> openRecording(const Recording& recording) {
  const std::string ending = recording.path.extension().string();
  if (ending.empty() || ending == kFolderEnding) return PngFolder::open(recording.path);
  for (const FilmFormat& format : filmFormats())
    if (ending == format.ending) return Ffmpeg::open(recording, format);
  return Error{recording.path.filename().string() + " ends in " + attention::quotedText(ending) +
               ", expected .mp4, .webm, .gif, or a folder without one"};
}

}  // namespace headscope::app
