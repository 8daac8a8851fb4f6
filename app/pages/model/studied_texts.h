#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/pages/common/page.h"
#include "app/pages/model/bundled_model.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// The file of texts on which every head is measured, and the run over it.
class StudiedTexts {
 public:
  StudiedTexts(PageServices& services, State& page, BundledModel& bundled)
      : services_(services), page_(page), bundled_(bundled), run_(services.workers, services.resources) {}

  /// Copies the run's progress to the page. Returns whether it has changed.
  bool take();
  /// Reads the file that the scene names and starts the run, if the view of many texts is shown.
  void ask(const Scene& scene);
  /// Reads a file in the background and shows the view of many texts.
  void open(const std::filesystem::path& path, const Requester& requester, const Outcome& outcome);
  /// Drops the results and the file, which is read again when the view is next shown.
  void forget();
  std::vector<Action> actions();

 private:
  void takeFile(const std::string& name, std::shared_ptr<const TextFile> file);
  void read(const Scene& scene);

  PageServices& services_;
  State& page_;
  BundledModel& bundled_;
  TextsRun run_;
};

}  // namespace headscope::app::model_page
