#include "app/scene/recovery_json.h"

#include <fmt/core.h>

#include <charconv>

#include "app/scene/json_text.h"
#include "app/scene/scene_json.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Status;

constexpr int kVersion = 1;
constexpr const char* kFormat = "headscope recovery";

/// The path as JSON; empty if it isn't UTF-8, so that the scene belongs to no file.
std::string pathText(const std::filesystem::path& path) {
  try {
    return Json(path.string()).dump();
  } catch (const Json::exception&) {
    return "\"\"";
  }
}

std::optional<JsonText> recoveryMember(const std::optional<JsonText>& object, std::string_view name) {
  if (object && object->isObject())
    for (JsonText::Member& member : object->members())
      if (member.name == name) return member.value;
  return std::nullopt;
}

std::optional<std::string> recoveryText(const std::optional<JsonText>& value) {
  if (!value) return std::nullopt;
  const Json text = value->scalar();
  return text.is_string() ? std::optional(text.get<std::string>()) : std::nullopt;
}

/// Reads what "{:x}" writes.
std::optional<attention::ContentMark> markOf(const std::optional<std::string>& text) {
  attention::ContentMark mark = 0;
  if (!text) return std::nullopt;
  const char* const end = text->data() + text->size();
  const auto [at, code] = std::from_chars(text->data(), end, mark, 16);
  return code == std::errc() && at == end ? std::optional(mark) : std::nullopt;
}

}  // namespace

std::string formatRecovery(const std::vector<KeptScene>& scenes, RecoveryStore::Clock::time_point now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  std::string text = fmt::format("{{\"format\": \"{}\", \"version\": {}, \"time\": {}, \"scenes\": [",
                                 kFormat, kVersion, seconds);
  const char* separator = "\n";
  for (const KeptScene& each : scenes) {
    const std::string content = each.content ? fmt::format("\"content\": \"{:x}\", ", *each.content) : "";
    text += fmt::format("{}{{\"path\": {}, {}\"scene\": {}}}", separator, pathText(each.path), content,
                        formatScene(*each.scene));
    separator = ",\n";
  }
  return text + "]}\n";
}

Status parseRecovery(std::string_view text, Recovery& recovery) {
  // The scenes are in entries of a list in an object.
  constexpr std::size_t kLevelsAbove = 3;
  if (const Status json = checkJson(text, {}, nullptr, kMaxJsonDepth + kLevelsAbove); !json)
    return Error{"the file is not a recovery file of Headscope: " + json.error().message};
  const std::optional<JsonText> file{text};
  if (recoveryText(recoveryMember(file, "format")) != kFormat)
    return Error{"the file is not a recovery file of Headscope"};
  const auto version = recoveryMember(file, "version"), time = recoveryMember(file, "time"),
             scenes = recoveryMember(file, "scenes");
  if (!version || version->wholeNumber() != kVersion)
    return Error{fmt::format("the file is not of version {}, which this program reads", kVersion)};
  if (!time || !time->wholeNumber() || !scenes || !scenes->isList() || scenes->entries().empty())
    return Error{"the file has no \"time\" and \"scenes\""};
  constexpr std::int64_t kLastSecond = 9'000'000'000;  // the clock's nanoseconds end soon after
  recovery.at = RecoveryStore::Clock::time_point(
      std::chrono::seconds(std::clamp<std::int64_t>(*time->wholeNumber(), 0, kLastSecond)));
  for (const JsonText& each : scenes->entries()) {
    const auto path = recoveryText(recoveryMember(each, "path"));
    const auto scene = recoveryMember(each, "scene");
    if (!path || !scene) return Error{"an entry of \"scenes\" has no \"path\" and \"scene\""};
    recovery.entries.push_back(
        {*path, std::string(scene->text()),
         recoveryText(recoveryMember(recoveryMember(scene, "cursor"), "page")).value_or(""),
         recoveryText(recoveryMember(recoveryMember(scene, "input"), "text")).value_or(""),
         markOf(recoveryText(recoveryMember(each, "content")))});
  }
  return attention::success();
}

}  // namespace headscope::app
