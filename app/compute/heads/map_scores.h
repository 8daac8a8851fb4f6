#pragma once

#include "app/compute/heads/head_studies.h"

namespace headscope::app {

// Scores that aren't of one layer's weights alone.

/// Returns attention::copyingScore() of the head's W_V and W_O in the checkpoint: −1 to 1. Errors as for
/// headCopying(), but the model needs no vocabulary.
attention::Result<double> headVoEigenvalues(const CopyingQuestion& question, std::stop_token stop = {});

/// The scores of all heads that don't depend on a text: for each of allDetectors() that uses a head's maps,
/// [layers, heads]; empty for others, and if the model's heads have no such score.
using MapScores = std::vector<attention::Matrix>;
MapScores mapScores(const std::shared_ptr<const OpenModel>& opened, const std::stop_token& stop);

/// Whether TransformerLens's detect_head() names this behaviour, too.
bool isOfDetectHead(const attention::Detector& detector);
/// Returns what detect_head() gives for the pattern of the same cells, with its error measure "mul": the mean
/// over all of the text's `all` rows, not only the eligible ones.
float overAllRows(const attention::DetectorScore& score, Index all);

}  // namespace headscope::app
