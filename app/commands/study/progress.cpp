#include "app/commands/study/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "app/commands/study/output.h"
#include "attention/formats/files/system_files.h"

namespace headscope::app {

using attention::Error;
using attention::Result;
using attention::Status;
using Json = nlohmann::ordered_json;

namespace {

/// What identifies a text in the file: bytes that aren't UTF-8 are replaced there.
std::string markOf(const StudiedText& text) {
  const auto either = [](const std::string& typed, const std::vector<Index>& ids) {
    return ids.empty() ? Json(typed) : Json(ids);
  };
  return Json{text.line, either(text.text, text.ids), either(text.other, text.otherIds)}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

/// Whether the file can be replaced when the study is done.
Status checkOutput(const std::filesystem::path& path) {
  std::error_code none;
  const auto kind = std::filesystem::status(path, none).type();
  if (kind == std::filesystem::file_type::not_found) return attention::success();
  if (kind != std::filesystem::file_type::regular)
    return attention::fileError(path, "is not a file, expected the name of a file to write");
  if (const int code = attention::checkWritable(path))
    return attention::fileError(path, "cannot be written: " + attention::systemText(code));
  return attention::success();
}

}  // namespace

TextReader TextReader::of(std::string bytes, std::string name) {
  TextReader reader(std::nullopt, std::move(name));
  reader.buffer_ = std::move(bytes);
  return reader;
}

Result<TextReader> TextReader::open(const std::string& path) {
  auto file = attention::RegularFile::open(path);
  if (!file) return file.error();
  return TextReader(*std::move(file), attention::shownPath(path));
}

Result<std::optional<StudiedText>> TextReader::next() {
  constexpr std::size_t kPart = std::size_t{64} << 10, kLongestLine = std::size_t{16} << 20;
  for (;;) {
    const std::size_t end = buffer_.find('\n', begin_);
    if (end == std::string::npos && file_ && read_ < file_->size()) {
      if (buffer_.size() - begin_ > kLongestLine)
        return Error{fmt::format("{}, line {}: is longer than {} bytes", name_, line_ + 1, kLongestLine)};
      buffer_.erase(0, begin_);
      begin_ = 0;
      const std::size_t kept = buffer_.size();
      const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(kPart, file_->size() - read_));
      buffer_.resize(kept + part);
      const auto status = file_->read(read_, {reinterpret_cast<std::uint8_t*>(buffer_.data()) + kept, part});
      if (!status) return status.error();
      read_ += part;
      continue;
    }
    if (end == std::string::npos && begin_ == buffer_.size()) return std::optional<StudiedText>();
    const std::string_view line =
        std::string_view(buffer_).substr(begin_, std::min(end, buffer_.size()) - begin_);
    begin_ = std::min(end, buffer_.size() - 1) + 1;
    auto text = parseStudiedLine(line, ++line_, name_);
    if (!text || *text) return text;
  }
}

Result<StudyProgress> StudyProgress::open(const std::string& output, const std::string& question) {
  if (const Status status = checkOutput(output); !status) return status.error();
  const std::string name = output + ".part";
  attention::Descriptor file = attention::openToWrite(name, attention::Creation::ifMissing, false);
  if (file.get() < 0) return attention::fileError(name, "cannot be written: " + attention::systemText(errno));
  if (attention::lockFile(file.get()) != 0)
    return attention::fileError(name, "is being written by another study");
  StudyProgress progress(std::move(file), name);
  if (const Status status = progress.readBack(question); !status) return status.error();
  return progress;
}

Status StudyProgress::readBack(const std::string& first) {
  std::ifstream in(name_, std::ios::binary);
  std::string line;
  bool any = false;
  while (std::getline(in, line) && !in.eof()) {  // a line without its end is unfinished
    if (!any && line != first)
      return attention::fileError(name_,
                                  "holds the results of another study; move or remove it to start this one");
    if (any) {
      const Json json = Json::parse(line, nullptr, false);
      if (json.is_discarded() || !json.is_object() || !json.contains("line")) break;
      ++done_;
    }
    any = true;
    size_ += line.size() + 1;
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0)
    return attention::fileError(name_, "cannot be written: " + attention::systemText(errno));
  return any ? attention::success() : append(first);
}

Status StudyProgress::append(const std::string& line) {
  const std::string bytes = line + "\n";
  int code = ::lseek(file_.get(), static_cast<off_t>(size_), SEEK_SET) < 0 ? errno : 0;
  for (std::size_t put = 0; code == 0 && put < bytes.size();) {
    const auto more = ::write(file_.get(), bytes.data() + put, bytes.size() - put);
    if (more >= 0)
      put += static_cast<std::size_t>(more);
    else if (errno != EINTR)
      code = errno;
  }
  if (code != 0) {
    (void)!::ftruncate(file_.get(), static_cast<off_t>(size_));
    return attention::fileError(name_, "cannot be written: " + attention::systemText(code));
  }
  size_ += bytes.size();
  return attention::success();
}

Status StudyProgress::add(const StudiedHeads& text, const std::string& piece) {
  if (const Status status = append(textJson(text, piece)); !status) return status;
  ++done_;
  return attention::success();
}

Status StudyProgress::check(const std::function<Result<std::optional<StudiedText>>()>& next) const {
  return each([&](const StudiedHeads& done) -> Status {
    const auto text = next();
    if (!text) return text.error();
    if (!*text) return Error{name_ + " holds the results of more texts than the file has"};
    if (markOf(done.asked) == markOf(**text)) return attention::success();
    return attention::fileError(
        name_,
        fmt::format("holds the results of other texts (line {} differs); move or remove it to start again",
                    (*text)->line));
  });
}

Status StudyProgress::each(const std::function<Status(StudiedHeads)>& take) const {
  std::ifstream in(name_, std::ios::binary);
  std::string line;
  std::getline(in, line);
  for (Index i = 0; i < done_; ++i) {
    if (!std::getline(in, line)) return attention::fileError(name_, "has become shorter");
    if (const Status status = take(studiedText(line)); !status) return status;
  }
  return attention::success();
}

void StudyProgress::remove() {
  ::unlink(name_.c_str());
}

}  // namespace headscope::app
