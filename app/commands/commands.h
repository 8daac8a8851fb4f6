#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "app/scene/scene.h"
#include "attention/core/tensor.h"

namespace headscope::app {

// Each command registers itself with the command line and sets its exit code: 0 = done, 1 = failed. CLI11
// detects wrong usage and exits with 2.

void addRenderCommand(CLI::App& app, int& exitCode);
void addSnapshotCommand(CLI::App& app, int& exitCode);
void addSceneCommand(CLI::App& app, int& exitCode);
void addViewCommand(CLI::App& app, int& exitCode);
void addMaskCommand(CLI::App& app, int& exitCode);
void addBenchCommand(CLI::App& app, int& exitCode);
void addModelCommand(CLI::App& app, int& exitCode);
void addStudyCommand(CLI::App& app, int& exitCode);
void addTokenizeCommand(CLI::App& app, int& exitCode);
void addCostCommand(CLI::App& app, int& exitCode);
void addLessonCommand(CLI::App& app, int& exitCode);
void addLinkCommand(CLI::App& app, int& exitCode);
void addExportHtmlCommand(CLI::App& app, int& exitCode);
void addHandoutCommand(CLI::App& app, int& exitCode);
void addRecordCommand(CLI::App& app, int& exitCode);
void addPythonCommand(CLI::App& app, int& exitCode);
void addHelpCommand(CLI::App& app, int& exitCode);

/// Whether `path` has the extension of a file with recorded attention, or of one often mistaken for it.
bool hasRecordedExtension(const std::string& path);

/// Reads the scene of a file or a link; returns the opening scene if `path` is empty.
attention::Result<Scene> sceneOrOpening(const std::string& path);

/// Returns the file of the bundled lesson named `path`, unless `path` exists; otherwise `path` itself.
std::filesystem::path lessonOr(const std::string& path);

/// Adds an option that takes whole numbers from 0 with commas between them. Anything else, an empty entry
/// too, is wrong usage. `numbers` must outlive the parsing.
CLI::Option* addNumbers(CLI::App& command, const std::string& name, std::vector<attention::Index>& numbers,
                        const std::string& help);

/// Parses a size in pixels such as "1280x720". The Error is worded for the option --size.
attention::Result<std::pair<int, int>> parseSize(const std::string& text);

/// Opens the window on the scene or lesson of a file or a link ("" = the opening scene) and runs until it is
/// closed. If a link can't be read, the window shows the reason and the opening scene.
int runWindow(const std::string& path);
/// The same for a scene that is not in a file.
int runWindow(const Scene& scene);
/// The same for a lesson's file, which must be readable.
int runLesson(const std::string& path);
/// Sends a file or folder to the window opened last. Returns false if there is no window or no such file.
bool sendToWindow(const std::string& path);

}  // namespace headscope::app
