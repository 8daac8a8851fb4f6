#pragma once

#include <string>
#include <string_view>

#include "app/widgets/view.h"

namespace headscope::app {

/// Bytes of a text that can be edited in a box: every edit goes through all of it, in one frame.
inline constexpr std::size_t kMaxEditedBytes = std::size_t{1} << 15;

/// In place of a box of `lines` lines, for a text that is too long for one: its beginning, a sentence, and a
/// button that clears it. Returns whether that was clicked.
bool longTextBox(View& view, const std::string& name, std::string_view text, int lines);

/// Whether `length` bytes that are pasted would make a text of `present` bytes longer than `most`; then a
/// sentence says so.
bool pastesTooMuch(View& view, std::size_t length, std::size_t present, std::size_t most);

}  // namespace headscope::app
