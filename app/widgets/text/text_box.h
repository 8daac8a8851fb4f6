#pragma once

#include <string>
#include <string_view>

#include "app/widgets/view.h"

namespace headscope::app {

/// The most bytes that a box can edit: every edit processes the whole text in one frame.
inline constexpr std::size_t kMaxEditedBytes = std::size_t{1} << 15;

/// Replaces a box of `lines` lines for a text too long to edit: shows its beginning, an explanation, and a
/// button that clears it. Returns whether that was clicked.
bool longTextBox(View& view, const std::string& name, std::string_view text, int lines);

/// Whether pasting `length` bytes would make a text of `present` bytes longer than `most`; if so, shows a
/// message.
bool pastesTooMuch(View& view, std::size_t length, std::size_t present, std::size_t most);

/// A text box of `lines` lines over the full width. Returns true if the text changed. Edits text of any
/// script by whole grapheme clusters (see text_edit.h). `hintText` shows while it is empty. Texts too long to
/// edit are shown in part and can be cleared (see longTextBox).
bool textBox(View& view, const std::string& name, std::string& text, int lines, const std::string& hintText);
bool textBox(View& view, const std::string& name, SharedText& text, int lines, const std::string& hintText);
/// A box of one line. Returns true if Enter was pressed.
bool lineBox(View& view, const std::string& name, std::string& text, float width, bool focus,
             const std::string& hintText);

}  // namespace headscope::app
