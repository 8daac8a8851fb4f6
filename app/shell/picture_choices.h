#pragma once

#include "app/shell/exports.h"
#include "render/rgb_texture.h"

namespace headscope::app {

/// The width and theme of a picture that is being saved, with a preview of what will be written: the part of
/// the dialog beside its files. What was drawn for the preview is what is saved. Withdraws its request if it
/// is closed before.
class PictureChoices : public std::enable_shared_from_this<PictureChoices> {
 public:
  using Drawn = attention::Result<std::vector<Drawing>>;

  /// Without a `page`, the window is saved as it is shown: its theme is given, and it is its own preview.
  /// `width` is the chosen width, an index, and outlives this object; so do the services. `fonts` are those
  /// of the file thread.
  PictureChoices(PageServices& services, std::optional<FigurePage> page, bool light, int& width,
                 std::shared_ptr<PictureFonts> fonts)
      : services_(services),
        page_(std::move(page)),
        theme_(light ? 0 : 1),
        width_(width),
        fonts_(std::move(fonts)) {}
  ~PictureChoices() { withdraw(); }

  void draw(View& view);
  /// The size of the file to write.
  PictureSize size() const;
  /// What is being drawn for the preview; null if nothing is.
  const std::shared_ptr<FigureRequest>& request() const { return request_; }
  /// Passes on what was drawn, now or when it is. `name` is the target file's.
  void finish(const std::string& name, std::function<void(Drawn)> then);

 private:
  void ask();
  void withdraw();
  void take(Drawn drawn);
  void preview(View& view);
  std::string sizeText() const;

  PageServices& services_;
  const std::optional<FigurePage> page_;
  int theme_;
  int& width_;
  const std::shared_ptr<PictureFonts> fonts_;
  std::shared_ptr<FigureRequest> request_;
  std::optional<Drawn> drawn_;
  int asked_ = 0;               ///< the number of requests; the preview of an earlier one is dropped
  ImVec2 room_;                 ///< for the preview, in pixels
  render::RgbTexture texture_;  ///< the preview, once it is drawn
  ImVec2 pixels_;               ///< its size
};

}  // namespace headscope::app
