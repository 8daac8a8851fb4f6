#pragma once

#include "app/compute/heads/head_studies.h"
#include "app/kit/board.h"
#include "app/pages/head_lab/head_lab_page.h"

namespace headscope::app::head_lab_page {

/// A part of the score table: a head, a detector, or both.
struct ScorePlace {
  Index head = -1;
  const attention::Detector* detector = nullptr;
  bool operator==(const ScorePlace&) const = default;
};

/// What detectors find in each head of the layer: a table of scores, the cells of the hovered score, and
/// the similarity of the heads.
class DetectorsTab : public Tab {
 public:
  DetectorsTab(PageServices& services, State& page);

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;

  const DetectorStudy* study() const { return study_.get(); }
  const TargetStudy* targets() const { return targets_.get(); }
  /// The heads in the order of the table's rows.
  std::vector<Index> rows(const Scene& scene) const;

 private:
  /// The selected head and detector; without a selected one, the detector that names the head.
  ScorePlace selectedPlace(const Scene& scene) const { return wholePlace(scene, {}); }
  /// What the picture on the right previews: the hovered place, else the selected one.
  ScorePlace previewedPlace(const Scene& scene) const { return wholePlace(scene, hovered_); }
  /// The place, with what it lacks from the selection.
  ScorePlace wholePlace(const Scene& scene, ScorePlace place) const;
  void controls(Scene& scene, ControlLine& line);
  void picture(Scene& scene, const ImRect& area);
  void sentence(const std::string& words, const ImRect& area) const;

  Shown<DetectorQuestion, DetectorStudy> study_;
  Shown<TargetQuestion, TargetStudy> targets_;
  ScorePlace hovered_, nextHovered_;  ///< in the last frame, and in this one
};

/// The detector with that name; null if there is none.
const attention::Detector* detectorCalled(std::string_view name);
/// A score in words: "0.94", "3.4 tokens", "2 back 0.93". `above`: minus the score of even attention.
std::string scoreText(const attention::Detector& detector, const attention::DetectorScore& score, bool above);

// Parts of the tab.

struct ScoreTable {
  const DetectorStudy& study;
  std::vector<Index> rows;
  ScorePlace selected, hovered;
};
/// Draws heads × detectors. Returns the hovered place; a click selects head and detector, or sorts by a
/// column.
ScorePlace paintScores(Scene& scene, State& page, const ImRect& area, const ScoreTable& scores);
/// Draws the heads' similarities, ordered so that similar heads are adjacent.
void paintSimilarity(Scene& scene, const State& page, const ImRect& area, const DetectorStudy& study,
                     ScorePlace& hovered);

/// Compares one wide head with several small ones that have the same number of parameters: patterns and rank.
class HeadCountTab : public Tab {
 public:
  HeadCountTab(PageServices& services, State& page);

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void choices(Scene& scene, const ImRect& line, float left) override;
  void move(Scene& scene, int by) override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  std::string shape() const override;

  const HeadCountStudy* study() const { return study_.get(); }

 private:
  void side(const Scene& scene, Board& board, const HeadCountSide& shown);
  void maps(const Scene& scene, const ImRect& area, const HeadCountSide& shown);
  void spectrum(const ImRect& area, const HeadCountSide& side);

  Shown<HeadCountQuestion, HeadCountStudy> study_;
};

/// Common ways to view a layer's weights, side by side, with the selected one enlarged.
class ViewsTab : public Tab {
 public:
  ViewsTab(PageServices& services, State& page);

  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void move(Scene& scene, int by) override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;

  const ViewStudy* study() const { return study_.get(); }

 private:
  void large(Scene& scene, Board& board);
  void map(Scene& scene, const ImRect& area);
  void thumbnails(Scene& scene, const ImRect& area);
  void thumbnail(Scene& scene, const ImRect& area, HeadPicture picture);

  Shown<ViewQuestion, ViewStudy> study_;
};

}  // namespace headscope::app::head_lab_page
