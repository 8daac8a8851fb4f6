#include "attention/formats/tables.h"

#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"

namespace headscope::attention {
namespace {

constexpr std::uint64_t kMaxTableBytes = std::uint64_t{1} << 28;

bool endsAsNpy(const std::filesystem::path& path) {
  auto ending = path.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending == ".npy";
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
