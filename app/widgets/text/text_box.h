#pragma once

#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// A text box of `lines` lines over the full width. Returns true if the text changed. Edits text of any
/// script by whole grapheme clusters (see text_edit.h). `hintText` shows while it is empty. Texts too long to
/// edit are shown in part and can be cleared (see long_text.h).
bool textBox(View& view, const std::string& name, std::string& text, int lines, const std::string& hintText);
bool textBox(View& view, const std::string& name, SharedText& text, int lines, const std::string& hintText);
/// A box of one line. Returns true if Enter was pressed.
bool lineBox(View& view, const std::string& name, std::string& text, float width, bool focus,
             const std::string& hintText);

}  // namespace headscope::app
