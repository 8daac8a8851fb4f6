#include "attention/models/checkpoint/shard_index.h"

#include <fmt/core.h>

#include <set>

#include "attention/formats/json_tree.h"
#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

constexpr std::size_t kMaxShards = 1024;

/// Whether a name can only be a file in the folder itself.
bool isPlainName(const std::string& name) {
  return !name.empty() && name != "." && name.find("..") == std::string::npos &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

}  // namespace

Result<std::map<std::string, std::string>> parseShardIndex(std::string_view text, const std::string& name) {
  const auto parsed = parseJsonTree(text, name);
  if (!parsed) return parsed.error();
  const nlohmann::json& json = *parsed;
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    return Error{name + ": has no weight_map, expected an object that names each tensor's file"};
  std::map<std::string, std::string> files;
  std::set<std::string> shards;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    const std::string at = name + ": tensor " + quotedText(tensor);
    if (!file.is_string()) return Error{at + " has no file name"};
    const std::string& shard = file.get_ref<const std::string&>();
    if (!isPlainName(shard))
      return Error{at + " is in " + quotedText(shard) + ", expected a file in the same folder"};
    files.emplace(tensor, shard);
    shards.insert(shard);
  }
  if (files.empty()) return Error{name + ": its weight_map is empty, expected each tensor's file"};
  if (shards.size() > kMaxShards)
    return Error{fmt::format("{}: names {} files, expected at most {}", name, shards.size(), kMaxShards)};
  return files;
}

}  // namespace headscope::attention
