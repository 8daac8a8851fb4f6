#pragma once

#include <vector>

#include "app/pages/model/model_state.h"
#include "app/pages/model/study_run.h"
#include "app/widgets/actions.h"

namespace headscope::app::model_page {

// What the page does with its state, apart from drawing panels and asking questions.

/// The page's layout, with the large head widened into the space that the thumbnails leave.
Layout divided(const State& page, Layout layout);
/// Height of the strip of tokens in pixels; 0 for a model that reads pictures.
float stripHeight(const State& page, const Layout& layout);
/// Whether the strip leaves out ranks, losses and the KV cache: while presenting, in low windows, for
/// recorded and synthetic layers, and for models of many layers.
bool foldsStrip(const State& page, const Layout& layout);

/// Draws the page while it is presented.
void drawPresented(Scene& scene, State& page, Layout layout);
/// While presenting: moves the cursor to the key with the query's largest weight.
void lookAtStrongest(Cursor& cursor, const State& page);

/// Shows the synthetic layers as they were last run; the sliders may have moved since.
void showStack(State& page, const Setup& setup);

/// Appends one generated token to the studied text. Returns false if generation can't continue.
bool writeOn(Scene& scene, const ModelStudy& study);
/// Seconds before the next token is generated, so that each can be read.
constexpr double kWriteInterval = 0.12;
/// Generates the next token if generation is on, the last token is studied and kWriteInterval has passed.
void advanceWriting(Scene& scene, State& page, const StudyRun& run);
/// Replaces a generated word with the one typed in its place, and drops the tokens after it.
void changeToken(Scene& scene, State& page);

std::vector<Action> pairActions();
std::vector<Action> playActions(State& page, const StudyRun& run);
std::vector<Action> lensActions(const State& page);
std::vector<Action> headActions(State& page);
std::vector<Action> switchActions(const State& page);
std::vector<Action> filterActions(const State& page);
std::vector<Action> moveActions(State& page, StudyRun& run);

}  // namespace headscope::app::model_page
