#include "app/scene/fields.h"

namespace headscope::app {

namespace {

template <auto Member>
constexpr Access kLook = access<&Scene::look, Member>();
template <auto Member>
constexpr Access kMap = access<&Scene::map, Member>();
/// An optional enum: 0 for nothing, then its values.
template <auto Member>
constexpr Access kMapOwn = EnumMember{[](const Scene& scene) {
                                        const auto& own = scene.map.*Member;
                                        return own ? static_cast<int>(*own) + 1 : 0;
                                      },
                                      [](Scene& scene, int value) {
                                        auto& own = scene.map.*Member;
                                        using Own = std::remove_cvref_t<decltype(*own)>;
                                        own.reset();
                                        if (value > 0) own = static_cast<Own>(value - 1);
                                      }};
template <auto... Members>
constexpr Access kCursor = access<&Scene::cursor, Members...>();
template <auto Member>
constexpr Access kStudio = kCursor<&Cursor::studio, Member>;
template <auto Member>
constexpr Access kGeneration = access<&Scene::generation, Member>();
template <auto Member>
constexpr Access kInModel = kCursor<&Cursor::model, Member>;
template <auto Member>
constexpr Access kInStudy = kCursor<&Cursor::model, &ModelCursor::study, Member>;
template <auto Member>
constexpr Access kInLesson = kCursor<&Cursor::lesson, Member>;
template <auto Member>
constexpr Access kInFlow = kCursor<&Cursor::flow, Member>;
template <auto Member>
constexpr Access kInLab = kCursor<&Cursor::lab, Member>;
template <auto Member>
constexpr Access kInMap = kCursor<&Cursor::map, Member>;

constexpr std::string_view kQuantityLabels[] = {"Weights", "Scores", "After dropout"};
constexpr std::string_view kRangeLabels[] = {"Range per head", "Range shared", "Range 0–1", "Logarithmic"};
constexpr Index kBytes[] = {4, 2, 1};
constexpr std::string_view kBytesLabels[] = {"fp32", "fp16", "fp8"};
constexpr std::string_view kSourceLabels[] = {"This text", "Generated", "File"};
constexpr std::string_view kPoolingLabels[] = {"The largest cell", "The mean"};
constexpr std::string_view kTabLabels[] = {"Mask", "Biases", "A / B"};
constexpr std::string_view kCacheViewLabels[] = {"Growth", "Shapes", "Precision", "Eviction", "Paging"};
constexpr std::string_view kReadsLabels[] = {"Weights", "Value-weighted", "Without the first token"};
constexpr std::string_view kOrderLabels[] = {"By number", "By score", "By similarity"};
constexpr std::string_view kLikenessLabels[] = {"Cosine", "Jensen–Shannon"};
constexpr std::string_view kAblationViewLabels[] = {"Heads off", "Convex hull", "Patching"};
constexpr std::string_view kAblationMeasureLabels[] = {"‖Δoutput‖ / ‖output‖", "cosine of share and output"};
constexpr std::string_view kOffByLabels[] = {"by zero", "by its mean"};
constexpr std::string_view kEditedLabels[] = {"Mask A", "Mask B"};

constexpr Elsewhere kPointing{"pointing"}, kModelPage{"the page of the model"}, kLabPage{"the page Lab"},
    kFlowPage{"the page Flow"}, kLessonPage{"the page of lessons"}, kTalkPage{"the strip of the page Talk"};
// Places outside the available range are clamped when shown; files may contain them.
constexpr Range kPlace{0, kMaxMapTokens}, kPlaceOrNone{-1, kMaxMapTokens};
// The middle of a wide window lies outside a head at its edge.
constexpr Range kWindow{-100.0 * kMaxMapTokens, 100.0 * kMaxMapTokens, "cells"};

constexpr Field kViewRows[] = {
    {"look.quantity", kLook<&Look::quantity>, Names{kQuantityNames},
     Selection{"quantity", kQuantityLabels, "model.dropout=0.5", true},
     "What heatmaps show: weights after the softmax, scores before it, or weights after dropout.",
     "before softmax, logits, raw scores"},
    {"look.colormap", kLook<&Look::colormap>, Names{kColormapNames},
     Selection{"colormap", kColormapNames, "", true}, "Colours of weights."},
    {"look.score_colormap", kLook<&Look::scoreColormap>, Names{kColormapNames},
     Selection{"colormap", kColormapNames, "look.quantity=scores look.range=shared", true},
     "Colours of scores."},
    {"look.range", kLook<&Look::range>, Names{kRangeNames}, Selection{"range", kRangeLabels, "", true},
     "Colour range: each head's own, shared by all heads, 0 to 1, or 10⁻⁴ to 1 logarithmically."},
    {"look.label_threshold", kLook<&Look::labelThreshold>, Range{0, 1},
     Slider{"label_threshold", "Threshold", {}, "cursor.page=lab cursor.lab.tab=detectors"},
     "A head is labelled with a behaviour if its score is this far above uniform attention (up to twice as "
     "far over fewer than four rows); otherwise it is `mixed`."},
    {"look.cache_bytes", kLook<&Look::cacheBytes>, OneOf{kBytes},
     Selection{"cache_type", kBytesLabels, "", true}, "Bytes of a cached value in the cost figures."},
    {"look.strokes", kLook<&Look::strokes>,
     Anything{"a list of `{\"page\": …, \"on\": …, \"arrow\": …, \"points\": [x, y, …]}`"},
     Elsewhere{"the pen while presenting", "pen strokes"},
     "Pen lines, each on the item where it starts: points from 0 to 1 across the item."},
    {"map.source", kMap<&MapSetup::source>, Names{kMapSourceNames},
     Selection{"map.source", kSourceLabels, "cursor.page=map"},
     "Source of the map's queries and keys: the scene's text, a generated long text, or a file."},
    {"map.tokens", kMap<&MapSetup::tokens>, Range{kMinMapTokens, kMaxMapTokens, "tokens"},
     Slider{"map.tokens",
            "Tokens",
            {kMinMapTokens, kMaxMapTokens, Scale::logarithmic},
            "cursor.page=map map.source=generated"},
     "Length of the generated text."},
    {"map.seed", kMap<&MapSetup::seed>, Anything{"a whole number from 0"}, Elsewhere{"a button"},
     "Seed of the generated text."},
    {"map.file", kMap<&MapSetup::file>, Anything{"a path"}, Elsewhere{"a file dialog"},
     "A safetensors file with queries and keys, relative to the scene."},
    {"map.layer", kMap<&MapSetup::layer>, Range{0, kMaxMapLayers - 1},
     Slider{"map.layer", "Layer", {}, "cursor.page=map map.source=file", "the file's layers"},
     "The file's layer to show."},
    {"map.pooling", kMap<&MapSetup::pooling>, Names{kPoolingNames},
     Selection{"map.pooling", kPoolingLabels, "cursor.page=map"},
     "What a pixel shows when it covers several cells."},
    {"map.range", kMapOwn<&MapSetup::range>, Names{kMapRangeNames}, Elsewhere{"a list on the page Map"},
     "The map's colour range; `look`: that of the other pages."},
    {"map.colormap", kMapOwn<&MapSetup::colormap>, Names{kMapColormapNames},
     Elsewhere{"a list on the page Map"}, "The map's colours; `look`: those of the other pages."},
    {"generation.temperature", kGeneration<&GenerationSetup::temperature>, Range{0, 100}, kModelPage,
     "Tokens are sampled from softmax(logits / temperature); 0 takes the most likely token."},
    {"generation.top_k", kGeneration<&GenerationSetup::topK>, Range{0, 10000000, "tokens"}, kModelPage,
     "Sample from this many most likely tokens; 0: from all."},
    {"generation.top_p", kGeneration<&GenerationSetup::topP>, Range{0, 1}, kModelPage,
     "Sample from the most likely tokens that together reach this probability."},
    {"generation.seed", kGeneration<&GenerationSetup::seed>, Anything{"a whole number from 0"}, kModelPage,
     "Seed of the sampling."},
    {"cursor.sequence", kCursor<&Cursor::sequence>, kPlace, Elsewhere{"a list of the sequences"},
     "The line of the batch to show."},
    {"cursor.focus", kCursor<&Cursor::focus>, kPlaceOrNone, kPointing,
     "The head that fills the page; -1 for all of them."},
    {"cursor.head", kCursor<&Cursor::cell, &Cell::head>, kPlace, kPointing,
     "Head of the cell in the receipt."},
    {"cursor.query", kCursor<&Cursor::cell, &Cell::query>, kPlace, kPointing, "Query of that cell."},
    {"cursor.key", kCursor<&Cursor::cell, &Cell::key>, kPlace, kPointing, "Key of that cell."},
    {"cursor.key_chosen", kCursor<&Cursor::keyChosen>, kYesOrNo, kPointing,
     "Keep that key; otherwise it is the row's largest weight."},
    {"cursor.wiring", kCursor<&Cursor::wiring>, kYesOrNo, Elsewhere{"a button"},
     "Show on Heads which kv head each head reads, above the heatmaps."},
    {"cursor.word_card", kCursor<&Cursor::wordCard>, kYesOrNo, kPointing,
     "The card with the vector of the selected query's word is open."},
    {"cursor.cache_view", kCursor<&Cursor::cacheView>, Names{kCacheViewNames},
     Selection{"cache_view", kCacheViewLabels, "cursor.page=cache"},
     "What Cache shows: growth, one layer in four shapes, precision, eviction or paging."},
    {"cursor.decoding", kCursor<&Cursor::decoding>, kYesOrNo, Elsewhere{"Play"},
     "Fill the KV cache step by step."},
    {"cursor.step", kCursor<&Cursor::step>, kPlace,
     Slider{"step", "Decode", {1, kMaxTokens}, "prefill=1", "the tokens"},
     "Tokens in the cache while decoding.", "generate step by step"},
    {"cursor.page", kCursor<&Cursor::page>, Anything{"the key of a page"}, Elsewhere{"the tabs at the top"},
     "The page that is shown."},
    {"cursor.view", kCursor<&Cursor::view>, kPlace, kTalkPage, "The view of the talk on the page Talk."},
    {"cursor.studio.view", kStudio<&StudioCursor::tab>, Names{kTabNames},
     Selection{"studio_view", kTabLabels, "cursor.page=mask"},
     "What the mask studio shows: the mask, the score biases, or a comparison of two masks."},
    {"cursor.studio.block_size", kStudio<&StudioCursor::blockSize>, Range{16, 128, "cells"},
     Slider{"block_size", "Block size", {}, "cursor.page=mask"},
     "Side of the counted blocks in cells, as in FlexAttention."},
    {"cursor.studio.layers", kStudio<&StudioCursor::layers>, Range{1, kMaxReachLayers, "layers"},
     Slider{"reach_layers", "Layers", {}, "cursor.page=mask"},
     "Number of stacked layers with this mask, for computing reach."},
    {"cursor.studio.residual", kStudio<&StudioCursor::residual>, kYesOrNo,
     Toggle{"reach_residual", "Keep residual stream", "cursor.page=mask"},
     "Tokens keep their information from layer to layer, as with residual connections."},
    {"cursor.studio.all_heads", kStudio<&StudioCursor::allHeads>, kYesOrNo,
     Toggle{"reach_all_heads", "Through any head", "cursor.page=mask"},
     "Tokens reach each other through any head, or only through the one shown."},
    {"cursor.studio.selected", kStudio<&StudioCursor::selected>, Range{-1, 4095}, kPointing,
     "The layer of the mask that the sliders and the brush belong to; -1 for none."},
    {"cursor.studio.edits_other", kStudio<&StudioCursor::editsOther>, kYesOrNo,
     Selection{"edits", kEditedLabels, "cursor.page=mask mask.compare=true"},
     "Layers and brush belong to the second mask."},
    {"cursor.studio.wipe", kStudio<&StudioCursor::wipe>, Range{0, 1}, Elsewhere{"dragging the line"},
     "Where the second mask begins, as a share of the picture's width."},
    {"cursor.model.layer", kInModel<&ModelCursor::layer>, Range{0, 1023, "layers"}, kPointing,
     "Layer of the head enlarged on Model."},
    {"cursor.model.stop", kInModel<&ModelCursor::stop>, Range{-1, 1024}, kModelPage,
     "Where predictions are read from the residual stream: 0 at the embedding, l after layer l − 1, -1 at "
     "its end."},
    {"cursor.model.detector", kInModel<&ModelCursor::detector>, Anything{"a detector's name, or nothing"},
     kModelPage, "Highlight heads with this behaviour."},
    {"cursor.model.by_score", kInModel<&ModelCursor::byScore>, kYesOrNo, kModelPage,
     "Sort the heads of each layer by the detector's score."},
    {"cursor.model.first_out", kInModel<&ModelCursor::firstOut>, kYesOrNo, kModelPage,
     "Remove the first token's column and renormalise the rows."},
    {"cursor.model.view", kInModel<&ModelCursor::view>, Names{kModelViewNames}, kModelPage,
     "The main view: all heads, patching, what each piece adds to the answer, the prediction after each "
     "layer, or the measures of each head over many texts."},
    {"cursor.model.picture_map", kInModel<&ModelCursor::pictureMap>, Names{kPictureMapNames}, kModelPage,
     "The map over a picture: the chosen token's weights, the first token's, or the chosen token's rollout "
     "through the layers."},
    {"cursor.model.by_key", kInModel<&ModelCursor::byKey>, kYesOrNo, kModelPage,
     "Show what each head adds to the answer by the token that it read."},
    {"cursor.model.shown", kInModel<&ModelCursor::shown>, Names{kShownTextNames}, kModelPage,
     "Whose heads are shown if there are two texts: A's, B's, or B's weights minus A's."},
    {"cursor.model.piece", kInModel<&ModelCursor::piece>, Names{kPieceNames}, kModelPage,
     "Which piece of each head is patched."},
    {"cursor.model.token_piece", kInModel<&ModelCursor::tokenPiece>, Names{kPieceNames}, kModelPage,
     "Which piece of each layer is patched, token by token."},
    {"cursor.model.study_shape", kInStudy<&StudyCursor::shape>, Names{kStudyShapeNames}, kModelPage,
     "How many texts' results are shown."},
    {"cursor.model.study_column", kInStudy<&StudyCursor::column>, Anything{"a measure's name"}, kModelPage,
     "The measure that sorts the table, colours the map, and is on the scatter plot's vertical axis."},
    {"cursor.model.study_across", kInStudy<&StudyCursor::across>, Anything{"a measure's name"}, kModelPage,
     "The measure on the scatter plot's horizontal axis."},
    {"cursor.model.study_smallest_first", kInStudy<&StudyCursor::smallestFirst>, kYesOrNo, kModelPage,
     "Sort the table with the smallest value first."},
    {"cursor.lesson.id", kInLesson<&LessonCursor::lesson>, Anything{"a lesson's id, or nothing"}, kLessonPage,
     "The lesson that is open."},
    {"cursor.lesson.step", kInLesson<&LessonCursor::step>, Range{0, 999}, kLessonPage,
     "The step of the lesson, from 0."},
    {"cursor.lesson.guess", kInLesson<&LessonCursor::guess>, Range{-1, 5}, kLessonPage,
     "The option of the step's question that was chosen, from 0; −1: none."},
    {"cursor.lesson.answered", kInLesson<&LessonCursor::answered>, kYesOrNo, kLessonPage,
     "Whether the question's answer is shown."},
    {"cursor.flow.stage", kInFlow<&FlowCursor::stage>, Names{kPipelineStepNames}, kFlowPage,
     "The stage of the computation shown on Flow; `bias` if something is added to the scores."},
    {"cursor.flow.t", kInFlow<&FlowCursor::t>, Range{0, 1}, kFlowPage,
     "The share of the stage's time that has passed."},
    {"cursor.lab.tab", kInLab<&HeadLabCursor::tab>, Anything{"the key of a tab"}, kLabPage,
     "The tab shown on Lab. On the page lab, a scene without one opens Flow, as older ones mean."},
    {"cursor.lab.mistake", kInLab<&HeadLabCursor::mistake>, Names{kMistakeNames}, kLabPage,
     "The classic mistake that is shown."},
    {"cursor.lab.subject", kInLab<&HeadLabCursor::subject>, Names{kMistakeSubjectNames}, kLabPage,
     "The layer mistakes are applied to: a random one or the scene's."},
    {"cursor.lab.mistake_dim", kInLab<&HeadLabCursor::mistakeDim>, OneOf{kMistakeDims}, kLabPage,
     "Head dim of the random layer, for mistakes about scale."},
    {"cursor.lab.reads", kInLab<&HeadLabCursor::reads>, Names{std::span(kHeadPictureNames).first(3)},
     Selection{"detect.reads", kReadsLabels, "cursor.page=lab cursor.lab.tab=detectors", true},
     "What detectors measure: weights, value-weighted weights, or weights without the first token, "
     "renormalised."},
    {"cursor.lab.above_even", kInLab<&HeadLabCursor::aboveEven>, kYesOrNo,
     Toggle{"detect.above", "Above uniform", "cursor.page=lab cursor.lab.tab=detectors"},
     "Subtract the score of uniform attention over the visible keys."},
    {"cursor.lab.detector", kInLab<&HeadLabCursor::detector>, Anything{"a detector's name, or nothing"},
     kLabPage, "The selected detector."},
    {"cursor.lab.only", kInLab<&HeadLabCursor::only>, kYesOrNo,
     Toggle{"detect.only", "Only above the threshold",
            "cursor.page=lab cursor.lab.tab=detectors cursor.lab.detector=previous"},
     "Hide heads that score below the threshold for the chosen detector."},
    {"cursor.lab.order", kInLab<&HeadLabCursor::order>, Names{kHeadOrderNames},
     Selection{"detect.order", kOrderLabels,
               "cursor.page=lab cursor.lab.tab=detectors cursor.lab.detector=previous", true},
     "Order of the heads: by number, by the chosen detector's score, or by similarity."},
    {"cursor.lab.likeness", kInLab<&HeadLabCursor::likeness>, Names{kSimilarityNames},
     Selection{"detect.likeness", kLikenessLabels, "cursor.page=lab cursor.lab.tab=detectors", true},
     "Similarity of two heads: the cosine of their weights, or 1 minus the Jensen–Shannon divergence of "
     "their rows."},
    {"cursor.lab.picture", kInLab<&HeadLabCursor::picture>, Names{kHeadPictureNames}, kLabPage,
     "The view of the weights on the tab `views`."},
    {"cursor.lab.other_head", kInLab<&HeadLabCursor::otherHead>, kPlace, kLabPage,
     "The head subtracted from the chosen one in the view `difference`."},
    {"cursor.lab.many_heads", kInLab<&HeadLabCursor::manyHeads>, OneOf{kManyHeads}, kLabPage,
     "Number of small heads compared with one wide head of the same number of parameters."},
    {"cursor.lab.view", kInLab<&HeadLabCursor::ablationView>, Names{kAblationViewNames},
     Selection{"ablation.view", kAblationViewLabels, "cursor.page=lab cursor.lab.tab=ablation"},
     "What the tab `ablation` shows: the layer without some heads, a head's output in the convex hull of its "
     "values, or a head with its pattern from another text."},
    {"cursor.lab.measure", kInLab<&HeadLabCursor::measure>, Names{kAblationMeasureNames},
     Selection{"ablation.measure", kAblationMeasureLabels, "cursor.page=lab cursor.lab.tab=ablation", true},
     "What cells show: how much of the output is lost without this head, or the direction of its share."},
    {"cursor.lab.off_by", kInLab<&HeadLabCursor::offBy>, Names{kHeadOffNames},
     Selection{"ablation.by", kOffByLabels, "cursor.page=lab cursor.lab.tab=ablation", true},
     "What ablation replaces a head's output with: zero, or its mean over the tokens."},
    {"cursor.lab.patch_text", kInLab<&HeadLabCursor::patchText>, Anything{"text"}, kLabPage,
     "The text that provides the patched pattern, with the same number of tokens."},
    {"cursor.map.row", kInMap<&MapCursor::row>, kWindow, kPointing, "Row in the middle of the map."},
    {"cursor.map.col", kInMap<&MapCursor::col>, kWindow, kPointing, "Column in the middle of the map."},
    {"cursor.map.cells_per_pixel", kInMap<&MapCursor::cellsPerPixel>, Range{0, kMaxMapTokens, "cells"},
     Elsewhere{"the wheel"}, "Zoom of the map; 0 shows the whole head."},
    {"cursor.map.query", kInMap<&MapCursor::query>, kPlaceOrNone, kPointing,
     "Query of the marked cell; -1 for none."},
    {"cursor.map.key", kInMap<&MapCursor::key>, kPlaceOrNone, kPointing,
     "Key of the marked cell; -1 for none."}};

}  // namespace

std::span<const Field> viewFields() {
  return kViewRows;
}

}  // namespace headscope::app
