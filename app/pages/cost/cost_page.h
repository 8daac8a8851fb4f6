#pragma once

#include "app/pages/common/page.h"
#include "app/pages/cost/cost_state.h"

namespace headscope::app::cost_page {

/// What models of any size cost: memory, work and time, from their shapes alone.
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
  bool open(const NamedFile& file, const Asker& asker, const Outcome& outcome) override;

  const State& state() const { return page_; }

 private:
  Action plotAction(int which);
  void loadCatalogueOnce();
  /// Reads a config.json; `show` makes it the page's.
  void readConfig(const std::filesystem::path& path,
                  std::function<void(const attention::Result<attention::ModelShape>&)> read);
  void openConfig(const std::filesystem::path& path, const Asker& asker, const Outcome& outcome);
  /// In the page, and in the person's own file.
  void keepMachine(const MachineChange& change);
  /// All that is in the middle, from the top down, or one plot alone.
  void drawFigures(Scene& scene, const Layout& layout, ImRect area);
  /// Where one plot is shown at a time, the next of them; while presenting the bytes come before them.
  void showNext(int by);
  void handleKeys(Scene& scene);
  /// The tile at that place of kGpuCounts; says why where the model can't be spread so.
  void chooseGpus(Scene& scene, std::size_t choice);

  PageServices& services_;
  State page_;
  bool catalogueAsked_ = false;
  std::string configAsked_;  ///< the file that was asked for last
};

}  // namespace headscope::app::cost_page
