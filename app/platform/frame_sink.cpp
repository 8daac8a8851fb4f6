#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "app/platform/film_program.h"
#include "app/platform/process.h"
#include "attention/formats/files/file_io.h"
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

/// Returns the last number after `name` in ffmpeg's report of its progress; 0 if there is none.
std::int64_t lastNumber(const std::string& report, const std::string& name) {
  const std::size_t at = report.rfind(name);
  return at == std::string::npos ? 0 : std::strtoll(report.c_str() + at + name.size(), nullptr, 10);
}

/// A pipe to ffmpeg, which writes to a file that takes the film's place when it is complete.
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

  Status add(const render::Image& frame) override {
    if (!program_.feed(frame.rgba)) return failed();
    ++frames_;
    return attention::success();
  }

  Status finish() override {
    if (!ended()) return failed();
    if (const Status whole = countFrames(); !whole) return whole;
    return file_.complete();
  }

 private:
  Ffmpeg(std::filesystem::path path, attention::Replacement file)
      : path_(std::move(path)), file_(std::move(file)), program_(file_) {}

  Status start(const Recording& recording, const FilmFormat& format) {
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
    words.insert(words.end(), {"-an", "-f", format.name, program_.filmName()});
    const int error = run(words, true);
    if (error == 0) return attention::success();
    if (error != ENOENT) return Error{std::string("ffmpeg: ") + std::strerror(error)};
    return Error{"ffmpeg isn't installed, which writes " + std::string(format.ending) +
                 " files; install it, or name a folder to write PNG frames into"};
  }

  int run(std::vector<std::string> words, bool fed) {
    words.insert(words.begin(), {"-hide_banner", "-loglevel", "error"});
    return program_.run(words, fed);
  }

  /// Whether ffmpeg has ended without an error. On a full disk it says so, and still exits with 0.
  bool ended() { return program_.end() && program_.said().empty(); }

  /// Reads the film back, so that none with missing frames replaces an older one.
  Status countFrames() {
    const int error = run({"-nostdin", "-i", program_.filmName(), "-map", "0:v:0", "-c", "copy", "-f", "null",
                           "-progress", "pipe:1", "-nostats", "-"},
                          false);
    if (error != 0) return Error{std::string("ffmpeg: ") + std::strerror(error)};
    if (!ended()) return failed();
    const std::int64_t found = lastNumber(program_.printed(), "frame=");
    if (found >= frames_) return attention::success();
    return Error{fmt::format("ffmpeg could not write {}: the film has {} of {} frames",
                             path_.filename().string(), found, frames_)};
  }

  /// Returns an error with the first line of ffmpeg's message.
  Error failed() {
    (void)program_.end();
    const std::string said = program_.said(), line = said.substr(0, said.find_first_of("\r\n"));
    return Error{"ffmpeg could not write " + path_.filename().string() + ": " +
                 (line.empty() ? "it ended without a message" : line)};
  }

  std::filesystem::path path_;
  attention::Replacement file_;
  FilmProgram program_;
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
