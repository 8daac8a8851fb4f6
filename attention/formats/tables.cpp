#include "attention/formats/tables.h"

#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

constexpr std::uint64_t kMaxTableBytes = std::uint64_t{1} << 28;

bool endsAsNpy(const std::filesystem::path& path) {
  return lowerCase(path.extension().string()) == ".npy";
}

}  // namespace

Result<Table> readTable(const std::filesystem::path& path) {
  const auto bytes = readFile(path, kMaxTableBytes);
  if (!bytes) return bytes.error();
  if (endsAsNpy(path)) return parseNpy(*bytes, shownPath(path));
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return parseCsv(text, shownPath(path));
}

}  // namespace headscope::attention
