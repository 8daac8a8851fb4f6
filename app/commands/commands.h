#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "app/scene/scene.h"

namespace headscope::app {

// Each command registers itself with the command line and leaves its exit code: 0 done, 1 could not.
// Wrong usage is CLI11's to find and exits with 2.

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

/// Whether a path ends like a file that holds recorded attention, or that people take for such a file.
bool endsAsRecorded(const std::string& path);

/// The scene of a file or a link, or the opening scene where `path` is empty.
attention::Result<Scene> sceneOrOpening(const std::string& path);

/// The path, or the file of the lesson of that name that comes with the program.
std::filesystem::path lessonOr(const std::string& path);

/// Pixels from "1280x720"; the error says that of the option --size.
attention::Result<std::pair<int, int>> parseSize(const std::string& text);

/// Opens the window on the scene or lesson of a file or a link ("" = the opening scene) and runs until it is
/// closed. Of a link that can't be read the window says why, beside the opening scene.
int runWindow(const std::string& path);
/// The same on a scene that is not in a file.
int runWindow(const Scene& scene);
/// The same on a lesson's file, which can be read.
int runLesson(const std::string& path);
/// Hands a file or folder to the window that was opened last; whether there is one, and such a file.
bool sendToWindow(const std::string& path);

}  // namespace headscope::app
