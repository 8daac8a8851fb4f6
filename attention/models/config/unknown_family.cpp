// The message for a family that isn't computed.

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attention/formats/quote.h"
#include "attention/models/config/families.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

/// The family with the longest name that begins `name` or begins with it: "qwen3" for "qwen3_next". At least
/// four letters have to agree.
const Family* nearestByName(std::string_view name) {
  const std::string type = lowerCase(name);
  const Family* nearest = nullptr;
  std::size_t most = 3;
  for (const Family* family : familyTable()) {
    const auto [end, other] = std::ranges::mismatch(type, family->name);
    const auto same = static_cast<std::size_t>(end - type.begin());
    if (same <= most || same < std::min(type.size(), family->name.size())) continue;
    most = same;
    nearest = family;
  }
  return nearest;
}

struct KnownFields {
  const Family* family = nullptr;
  std::size_t known = 0, all = 0;
};

/// The family that knows the most of the file's fields, apart from those that all families share.
KnownFields nearestByFields(const ConfigReader& json) {
  std::vector<std::string> own = json.names();
  std::erase_if(own, [](const std::string& name) { return knows(kSharedFields, name); });
  KnownFields nearest;
  for (const Family* family : familyTable()) {
    const auto known = static_cast<std::size_t>(
        std::ranges::count_if(own, [&](const std::string& name) { return knows(family->fields, name); }));
    if (known > nearest.known) nearest = {family, known, own.size()};
  }
  return nearest;
}

}  // namespace

std::string unknownFamily(const ConfigReader& json, std::string_view type, std::string_view field) {
  const std::string families =
      fmt::format("of the {} families that Headscope computes.", familyTable().size());
  std::string text = type.empty()
                         ? json.at(field) + " is absent, expected one " + families
                         : json.at(field) + " " + quotedText(std::string(type)) + " is none " + families;
  if (json.isObject("pretrained_cfg") || type.starts_with("timm"))
    return text + " It is a model of timm; Headscope reads the vision models of transformers: vit, deit, "
                  "dinov2 and clip. " + std::string(kRecordInstead);
  const KnownFields fields = nearestByFields(json);
  if (const Family* named = nearestByName(type))
    text += fmt::format(" The nearest by name is {}.", named->name);
  else if (fields.family && 2 * fields.known > fields.all)
    text += fmt::format(" The nearest is {}, which knows {} of its {} fields.", fields.family->name,
                        fields.known, fields.all);
  return text + " " + std::string(kRecordInstead);
}

}  // namespace headscope::attention
