#pragma once

#include "app/compute/heads/detector_study.h"
#include "app/pages/head_lab/head_lab_tab.h"

namespace headscope::app::head_lab_page {

/// What is pointed at in the table of scores: a head, a detector, or both.
struct ScorePlace {
  Index head = -1;
  const attention::Detector* detector = nullptr;
};

/// What every head of the layer is seen to do: a table of scores, the cells that make the pointed-at one, and
/// the heads by their likeness.
class DetectorsTab : public Tab {
 public:
  DetectorsTab(PageServices& services, State& page);

  bool take(const Scene& scene) override;
  void draw(Scene& scene, const ImRect& area, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void leave() override;
  std::vector<CaptionPart> caption(const Scene& scene) const override;

  const DetectorStudy* study() const { return study_.get(); }
  const TargetStudy* targets() const { return targets_.get(); }
  /// The heads as they stand below each other.
  std::vector<Index> rows(const Scene& scene) const;

 private:
  /// What the picture at the right shows: what is pointed at, else the chosen head and detector.
  ScorePlace shownPlace(const Scene& scene) const;
  void controls(Scene& scene, const ImRect& area);
  void picture(Scene& scene, const ImRect& area);

  Answer<DetectorQuestion, std::shared_ptr<const DetectorStudy>> scores_;
  Answer<TargetQuestion, std::shared_ptr<const TargetStudy>> cells_;
  std::shared_ptr<const DetectorStudy> study_;
  std::shared_ptr<const TargetStudy> targets_;
  ScorePlace pointed_, nextPointed_;  ///< in the last frame, and in this one
};

/// The detector of that name; null where there is none.
const attention::Detector* detectorCalled(std::string_view name);
/// "0.94", "3.4 tokens", "2 back 0.93": a score in words. `above`: less that of even attention.
std::string scoreText(const attention::Detector& detector, const attention::DetectorScore& score, bool above);

// Parts of the tab.

struct ScoreTable {
  const DetectorStudy& study;
  std::vector<Index> rows;
  ScorePlace lit;
};
/// Heads × detectors. What is pointed at goes to `pointed`; a click chooses head and detector.
void paintScores(Scene& scene, State& page, const ImRect& area, const ScoreTable& table, ScorePlace& pointed);
/// The heads' likeness in the order that brings like ones together.
void paintLikeness(Scene& scene, const State& page, const ImRect& area, const DetectorStudy& study,
                   ScorePlace& pointed);

}  // namespace headscope::app::head_lab_page
