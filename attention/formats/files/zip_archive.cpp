#include "attention/formats/files/zip_archive.h"

#include <fmt/core.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using OpenMember = std::unique_ptr<zip_file_t, Discard>;

std::string wordsFor(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string words = zip_error_strerror(&error);
  zip_error_fini(&error);
  return escapedText(words);
}

/// libzip takes ownership of the descriptor, so it gets a duplicate.
Result<Archive> openArchive(const RegularFile& file) {
  const int descriptor = ::dup(file.descriptor());
  if (descriptor < 0) return fileError(file.path(), "cannot be read: " + systemText(errno));
  int code = 0;
  zip_t* const archive = zip_fdopen(descriptor, 0, &code);
  if (archive) return Archive(archive);
  ::close(descriptor);
  return fileError(file.path(), "is damaged or not a zip archive: " + wordsFor(code));
}

Result<std::vector<ZipArchive::Member>> readDirectory(zip_t& archive, const std::filesystem::path& path) {
  const zip_int64_t count = zip_get_num_entries(&archive, 0);
  if (count > ZipArchive::kMaxMembers)
    return fileError(path,
                     fmt::format("holds {} files, expected at most {}", count, ZipArchive::kMaxMembers));
  std::vector<ZipArchive::Member> members;
  std::set<std::string> names;
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t about;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                     ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(&archive, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW, &about) != 0 ||
        (about.valid & kNeeded) != kNeeded)
      return fileError(path, fmt::format("file {} of the archive can't be read from its directory", i));
    if (about.encryption_method != ZIP_EM_NONE)
      return fileError(path, quotedText(about.name) + " in the archive is encrypted");
    // seek() relies on the declared size of a stored member.
    if (about.comp_method == ZIP_CM_STORE && about.comp_size != about.size)
      return fileError(path, fmt::format("{} in the archive is damaged: {} bytes are stored as {}",
                                         quotedText(about.name), about.size, about.comp_size));
    if (!names.insert(about.name).second) return fileError(path, "holds two files " + quotedText(about.name));
    members.push_back({about.name, about.size, about.comp_method == ZIP_CM_STORE});
  }
  return members;
}

}  // namespace

struct ZipArchive::Opened {
  std::filesystem::path path;
  Archive archive;
  std::vector<Member> members;

  std::mutex mutex;  ///< guards the members below; libzip itself keeps one position in the file
  std::size_t current = 0;
  std::uint64_t at = 0;  ///< position in the current member
  OpenMember file;

  Status failed(std::size_t member, const std::string& what) {
    file.reset();
    return fileError(path, quotedText(members[member].name) + " in the archive " + what);
  }

  Status readHere(std::size_t member, std::span<std::uint8_t> to) {
    while (!to.empty()) {
      const zip_int64_t got = zip_fread(file.get(), to.data(), to.size());
      if (got < 0)
        return failed(member, std::string("is damaged: ") + escapedText(zip_file_strerror(file.get())));
      if (got == 0)
        return failed(member, fmt::format("ended after {} bytes, expected {}", at, members[member].size));
      at += static_cast<std::uint64_t>(got);
      to = to.subspan(static_cast<std::size_t>(got));
    }
    return success();
  }

  Status skip(std::size_t member, std::uint64_t offset) {
    std::array<std::uint8_t, 1 << 16> passed;
    while (at < offset) {
      const auto part = std::span(passed).first(std::min<std::uint64_t>(passed.size(), offset - at));
      if (const auto status = readHere(member, part); !status) return status;
    }
    return success();
  }

  Status seek(std::size_t member, std::uint64_t offset) {
    const bool open = file && current == member;
    if (open && at == offset) return success();
    if (!open || (at > offset && !members[member].stored)) {
      file.reset(zip_fopen_index(archive.get(), member, 0));
      current = member;
      at = 0;
      if (!file)
        return failed(member, std::string("can't be read: ") + escapedText(zip_strerror(archive.get())));
    }
    // libzip 1.7 reads out of bounds when seeking in an empty member, even to its beginning.
    if (at == offset) return success();
    if (!members[member].stored) return skip(member, offset);
    if (zip_fseek(file.get(), static_cast<zip_int64_t>(offset), SEEK_SET) != 0)
      return failed(member, std::string("is damaged: ") + escapedText(zip_file_strerror(file.get())));
    at = offset;
    return success();
  }
};

Result<ZipArchive> ZipArchive::open(const std::filesystem::path& path) {
  const auto file = RegularFile::open(path);
  if (!file) return file.error();
  auto archive = openArchive(*file);
  if (!archive) return archive.error();
  auto members = readDirectory(**archive, path);
  if (!members) return members.error();
  auto opened = std::make_shared<Opened>();
  opened->path = path;
  opened->archive = *std::move(archive);
  opened->members = *std::move(members);
  return ZipArchive(std::move(opened));
}

const std::vector<ZipArchive::Member>& ZipArchive::members() const {
  return opened_->members;
}

Status ZipArchive::read(std::size_t member, std::uint64_t offset, std::span<std::uint8_t> to) const {
  const std::uint64_t size = opened_->members.at(member).size;
  require(offset <= size && to.size() <= size - offset,
          fmt::format("bytes [{}, +{}] are outside the {} of {}", offset, to.size(), size,
                      opened_->members[member].name));
  const std::lock_guard lock(opened_->mutex);
  if (const auto status = opened_->seek(member, offset); !status) return status;
  return opened_->readHere(member, to);
}

bool hasZipSignature(std::span<const std::uint8_t> start) {
  // "PK", and the record of a file or of an empty archive's end. In a safetensors file, these bytes would
  // mean a header of more than 4 GB.
  if (start.size() < 8 || start[0] != 'P' || start[1] != 'K') return false;
  const bool record = (start[2] == 3 && start[3] == 4) || (start[2] == 5 && start[3] == 6);
  const bool beyond = start[4] != 0 || start[5] != 0 || start[6] != 0 || start[7] != 0;
  return record && (beyond || start[2] == 5);
}

}  // namespace headscope::attention
