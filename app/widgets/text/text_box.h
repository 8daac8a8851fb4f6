#pragma once

#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// A text box of `lines` lines in the given font over the full width; returns true when the text changed.
/// Text of any script is edited by whole grapheme clusters (see text_edit.h). `hintText` shows while it is
/// empty. Texts that are too long to be edited are shown in part and can be cleared (see long_text.h).
bool textBox(View& view, const std::string& name, std::string& text, int lines, const std::string& hintText);
bool textBox(View& view, const std::string& name, SharedText& text, int lines, const std::string& hintText);
/// One line; returns true when Enter was pressed.
bool lineBox(View& view, const std::string& name, std::string& text, float width, bool focus,
             const std::string& hintText);

}  // namespace headscope::app
