#pragma once

#include "app/pages/common/page.h"
#include "app/pages/cost/cost_state.h"

namespace headscope::app::cost_page {

/// What models of any size cost in memory, work and time, computed from their shapes alone.
class Page : public app::Page {
 public:
  explicit Page(PageServices& services);

  std::vector<Action> actions() override;
  void prepare(Scene& scene) override;
  void draw(Scene& scene, const Layout& layout) override;
  void ask(const Scene& scene) override;
  void reset() override;
  bool showsSide(const Scene&) const override { return false; }
  std::vector<CaptionPart> caption(const Scene& scene) const override;
  PageStatus status(const Scene& scene) const override;
  std::optional<std::string> error(const Scene& scene) const override;
  bool open(const NamedFile& file, const Requester& requester, const Outcome& outcome) override;

  const State& state() const { return page_; }

 private:
  Action plotAction(int which);
  void loadCatalogueOnce();
  /// Reads a config.json and makes it the page's if valid; calls `read` with the result.
  void readConfig(const std::filesystem::path& path,
                  std::function<void(const attention::Result<attention::ModelShape>&)> read);
  void openConfig(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  /// Applies the change to the page and to the person's own file.
  void keepMachine(const MachineChange& change);
  /// Draws everything in the middle from top to bottom, or a single plot.
  void drawFigures(Scene& scene, const Layout& layout, ImRect area);
  /// Moves by `by` among plots that are shown one at a time; while presenting, the bytes come first.
  void showNext(int by);
  void handleKeys(Scene& scene);
  /// Selects entry `choice` of kGpuCounts; reports why if the model can't be spread over that many GPUs.
  void chooseGpus(Scene& scene, std::size_t choice);

  PageServices& services_;
  State page_;
  bool catalogueAsked_ = false;
  std::string configAsked_;  ///< the file requested last
};

}  // namespace headscope::app::cost_page
