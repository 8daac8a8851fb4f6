#include "app/platform/supplementary.h"

#include "app/platform/ui_state.h"

namespace headscope::app {

namespace {

constexpr std::uint32_t kFirst = 0xE000, kLast = 0xF8FF;

}  // namespace

void appendUtf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::uint32_t StandIns::editableCharacter(std::uint32_t code) {
  // A private-use character the person typed gets a stand-in too, or it would come back as another's.
  if (code <= 0xFFFF && !(code >= kFirst && code <= kLast)) return code;
  if (const auto found = byCharacter_.find(code); found != byCharacter_.end()) return found->second;
  const std::uint32_t standIn = kFirst + static_cast<std::uint32_t>(characters_.size());
  if (standIn > kLast) return 0xFFFD;
  characters_.push_back(code);
  byCharacter_.emplace(code, standIn);
  return standIn;
}

std::string StandIns::toEditable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  eachCodepoint(text, [&](std::uint32_t code, std::string_view bytes) {
    const std::uint32_t editable = editableCharacter(code);
    if (editable == code)
      out += bytes;
    else
      appendUtf8(out, editable);
  });
  return out;
}

std::string StandIns::fromEditable(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  eachCodepoint(text, [&](std::uint32_t code, std::string_view bytes) {
    const bool standIn = code >= kFirst && code < kFirst + characters_.size();
    if (standIn)
      appendUtf8(out, characters_[code - kFirst]);
    else
      out += bytes;
  });
  return out;
}

std::string toEditable(std::string_view text) {
  return uiState().standIns.toEditable(text);
}

std::string fromEditable(std::string_view text) {
  return uiState().standIns.fromEditable(text);
}

}  // namespace headscope::app
