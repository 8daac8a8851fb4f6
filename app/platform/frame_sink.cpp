#include "app/platform/frame_sink.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "attention/formats/files/file_io.h"
#include "attention/formats/files/temporary_file.h"
#include "attention/formats/quote.h"

namespace headscope::app {

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

/// A pipe to ffmpeg, which writes to a file that has no name until it is complete.
class Ffmpeg : public FrameSink {
 public:
  static attention::Result<std::unique_ptr<FrameSink>> open(const Recording& recording,
                                                            const FilmFormat& format) {
    auto [file, error] = attention::TemporaryFile::create(recording.path);
    if (!file) return Error{recording.path.string() + ": " + std::strerror(error)};
    std::unique_ptr<Ffmpeg> made(new Ffmpeg(recording.path, *std::move(file)));
    if (const Status started = made->start(recording, format); !started) return started.error();
    return std::unique_ptr<FrameSink>(std::move(made));
  }
  ~Ffmpeg() override { end(); }

  Status add(const render::Image& frame) override {
    for (std::size_t done = 0; done < frame.rgba.size();) {
      const ssize_t written = ::write(pipe_, frame.rgba.data() + done, frame.rgba.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed();
      done += static_cast<std::size_t>(written);
    }
    return attention::success();
  }

  Status finish() override {
    if (end() != 0) return failed();
    if (const int error = file_.moveTo(path_)) return Error{path_.string() + ": " + std::strerror(error)};
    return attention::success();
  }

 private:
  Ffmpeg(std::filesystem::path path, attention::TemporaryFile file)
      : path_(std::move(path)), file_(std::move(file)), said_(std::tmpfile(), &std::fclose) {}

  Status start(const Recording& recording, const FilmFormat& format) {
    // If ffmpeg has ended, writing fails instead of ending this program.
    ::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (!said_ || ::pipe2(ends, O_CLOEXEC) != 0) return Error{std::string("ffmpeg: ") + std::strerror(errno)};
    const std::string size = fmt::format("{}x{}", recording.width, recording.height),
                      rate = std::to_string(recording.framesPerSecond);
    std::vector<const char*> words{"ffmpeg",     "-hide_banner", "-loglevel",  "error", "-y",
                                   "-f",         "rawvideo",     "-pix_fmt",   "rgba",  "-s",
                                   size.c_str(), "-framerate",   rate.c_str(), "-i",    "pipe:0"};
    words.insert(words.end(), format.options.begin(), format.options.end());
    words.insert(words.end(), {"-an", "-f", format.name, "/dev/fd/3", nullptr});
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, ends[0], 0);
    ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, ::fileno(said_.get()), 2);
    ::posix_spawn_file_actions_adddup2(&files, file_.descriptor(), 3);
    const int error =
        ::posix_spawnp(&process_, "ffmpeg", &files, nullptr, const_cast<char* const*>(words.data()), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::close(ends[0]);
    pipe_ = ends[1];
    if (error == 0) return attention::success();
    process_ = -1;
    if (error != ENOENT) return Error{std::string("ffmpeg: ") + std::strerror(error)};
    return Error{"ffmpeg isn't installed, which writes " + std::string(format.ending) +
                 " files; install it, or name a folder to write PNG frames into"};
  }

  /// Closes the pipe, waits for ffmpeg to end, and returns its exit code.
  int end() {
    if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
    if (process_ < 0) return status_;
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return status_;
  }

  /// Returns an error with the first line of ffmpeg's message.
  Error failed() {
    end();
    std::rewind(said_.get());
    char line[400] = "";
    if (!std::fgets(line, sizeof line, said_.get())) std::strcpy(line, "it ended without a message");
    std::string words = line;
    words.erase(words.find_last_not_of("\n") + 1);
    return Error{"ffmpeg could not write " + path_.filename().string() + ": " + words};
  }

  std::filesystem::path path_;
  attention::TemporaryFile file_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> said_;  ///< ffmpeg's standard error
  pid_t process_ = -1;
  int pipe_ = -1, status_ = 1;
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
