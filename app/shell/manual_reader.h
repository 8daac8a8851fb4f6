#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/scene/text/manual.h"
#include "app/widgets/dialog.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app {

/// A part of a chapter under one heading.
struct ManualSection {
  std::string heading;  ///< empty = before the first heading
  std::string words;    ///< in lower case
};
std::vector<ManualSection> sectionsOf(const std::vector<MarkdownBlock>& chapter);

/// The manual: chapters and a search on the left, the open chapter next to them.
class ManualReader : public Dialog {
 public:
  /// Opens at a chapter, "cache", or at a heading or glossary term in it, "cache#paging"; at the first
  /// chapter if there is no such chapter.
  ManualReader(std::vector<Chapter> manual, std::string_view target);
  std::string name() const override { return "manual"; }
  void draw(Scene& scene, View& view, bool opening) override;

  /// Follows a link: "cache.md", "files.md#tokenizers", "#tokenizers" or "glossary.md#kv-cache".
  void follow(std::string_view target);
  /// The key of the open chapter.
  const std::string& chapter() const { return manual_[shown_].key; }
  /// The heading or term last jumped to; empty at a chapter's start.
  const std::string& heading() const { return heading_; }

 private:
  struct Place {
    std::size_t chapter;
    std::string heading;
  };
  /// The positions of the chapter's blocks at the shown width, in pixels from its top.
  struct Placed {
    std::size_t chapter = static_cast<std::size_t>(-1);
    float width = 0, unit = 0;
    std::vector<float> tops;                  ///< one more than there are blocks
    std::vector<std::vector<float>> columns;  ///< for each table
  };

  std::optional<Place> placeOf(std::string_view target) const;
  void go(Place place);
  void back();
  void list(View& view, bool opening);
  bool listRow(View& view, const std::string& name, const std::string& label, bool chosen);
  void page(View& view);
  void scrollByKeys(const View& view);
  void place(const View& view, float width);
  float drawBlock(const View& view, Canvas* list, std::size_t index, ImVec2 at, float width,
                  std::vector<LinkArea>* links) const;
  float drawRow(const View& view, Canvas* list, const MarkdownBlock& row, ImVec2 at,
                std::vector<LinkArea>* links) const;
  std::vector<float> columnWidths(const View& view, int table, float width) const;

  std::vector<Chapter> manual_;
  std::vector<std::vector<MarkdownBlock>> blocks_;    ///< by chapter
  std::vector<std::vector<ManualSection>> sections_;  ///< by chapter
  std::vector<Place> visited_;
  std::size_t shown_ = 0;
  std::string heading_, wanted_;
  Placed placed_;
  bool jumps_ = true;  ///< scrolls to heading_ in the next frame
};

}  // namespace headscope::app
