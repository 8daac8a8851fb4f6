#include "app/shell/picture_choices.h"

#include <fmt/core.h>

#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr std::array<int, 3> kWidths{0, 1920, 3840};  ///< 0 = as its content needs

}  // namespace

PictureSize PictureChoices::size() const {
  if (const int width = kWidths.at(static_cast<std::size_t>(width_)); width > 0)
    return {.width = Length{static_cast<double>(width), false}};
  // Twice the pixels for a figure, so that it is sharp on paper and high-density displays.
  return {.scale = page_ ? 2 / static_cast<double>(services_.view.unit) : 1};
}

void PictureChoices::ask() {
  drawn_.reset();
  texture_.reset();
  ++asked_;
  request_ = std::make_shared<FigureRequest>(FigureRequest{
      {*page_}, theme_ == 0, "the preview", services_.view.time, [weak = weak_from_this()](Drawn drawn) {
        if (const auto self = weak.lock()) self->take(std::move(drawn));
      }});
}

void PictureChoices::withdraw() {
  if (request_ && services_.view.figureWanted == request_) services_.view.figureWanted.reset();
  request_.reset();
}

/// Keeps what was drawn, and paints it small on the file thread.
void PictureChoices::take(Drawn drawn) {
  request_.reset();
  drawn_ = std::move(drawn);
  if (!*drawn_ || room_.x <= 0) return;
  const Drawing& figure = (*drawn_)->front();
  const double zoom =
      std::min(static_cast<double>(room_.x) / figure.width, static_cast<double>(room_.y) / figure.height);
  const auto side = [zoom](double length) { return std::max(1, static_cast<int>(length * zoom)); };
  services_.files.read<render::Image>(
      "preview.png",
      [figure, fonts = fonts_, width = side(figure.width), height = side(figure.height)] {
        return pixelImage(figure, width, height, fonts);
      },
      [weak = weak_from_this(), asked = asked_](attention::Result<render::Image> image) {
        const auto self = weak.lock();
        if (!self || self->asked_ != asked || !image) return;
        std::vector<std::uint8_t> rgb;
        for (std::size_t i = 0; i < image->rgba.size(); ++i)
          if (i % 4 != 3) rgb.push_back(image->rgba[i]);
        self->texture_.set(image->width, image->height, rgb);
        self->pixels_ = ImVec2(static_cast<float>(image->width), static_cast<float>(image->height));
        self->services_.view.redraw();
      });
}

void PictureChoices::finish(const std::string& name, std::function<void(Drawn)> then) {
  if (drawn_) return then(*drawn_);
  if (!request_) ask();
  request_->name = name;
  request_->since = services_.view.time;
  request_->then = std::move(then);
  services_.view.figureWanted = std::exchange(request_, nullptr);  // goes on without the dialog
}

void PictureChoices::preview(View& view) {
  if (!request_ && !drawn_) ask();
  if (request_ && !view.figureWanted) view.figureWanted = request_;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  room_ = ImVec2(ImGui::GetContentRegionAvail().x, view.px(150));
  const ImRect box(at, at + room_);
  Canvas list = *ImGui::GetWindowDrawList();
  ImGui::Dummy(room_);
  if (!texture_.empty()) {
    const ImVec2 from(std::round(box.GetCenter().x - pixels_.x / 2),
                      std::round(box.GetCenter().y - pixels_.y / 2));
    list.AddImage(compat::textureId(texture_.texture()), from, from + pixels_, ImVec2(0, 0), ImVec2(1, 1));
    compat::rectOutline(list, from, from + pixels_, view.theme->line, 0, 1);
    track("picture.preview", from, from + pixels_);
    return;
  }
  compat::rectOutline(list, box.Min, box.Max, view.theme->line, view.px(6), 1);
  const bool failed = drawn_ && !*drawn_;
  paintParagraph(list, view.fonts->small, box.Min + ImVec2(view.px(10), view.px(10)), room_.x - view.px(20),
                 failed ? view.theme->error : view.theme->secondary,
                 failed ? drawn_->error().message : "Drawing the preview…");
}

/// The pixels of a PNG, or why there can't be that many.
std::string PictureChoices::sizeText() const {
  Drawing shown;
  shown.width = static_cast<double>(ImGui::GetIO().DisplaySize.x);
  shown.height = static_cast<double>(ImGui::GetIO().DisplaySize.y);
  if (page_ && (!drawn_ || !*drawn_)) return "";
  const auto pixels = pixelSizeOf(page_ ? (*drawn_)->front() : shown, size());
  return pixels ? fmt::format("PNG: {} × {} pixels", pixels->width, pixels->height) : pixels.error().message;
}

void PictureChoices::draw(View& view) {
  if (page_) {
    preview(view);
    gap(view, 8);
    static const std::vector<Choice> kThemes{{"Light", "", "light"}, {"Dark", "", "dark"}};
    if (segmented(view, "picture.theme", kThemes, theme_)) withdraw(), ask();
    gap(view, 8);
  }
  static const std::vector<Choice> kSizes{
      {"Automatic", "", "automatic"}, {"1920 wide", "", "1920"}, {"3840 wide", "", "3840"}};
  segmented(view, "picture.width", kSizes, width_,
            page_ ? "Automatic: twice the pixels of the window, as large as the content needs"
                  : "Automatic: the pixels of the window");
  gap(view, 4);
  hint(view, sizeText());
}

}  // namespace headscope::app
