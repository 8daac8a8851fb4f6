#include "app/commands/program.h"

int main(int argc, char** argv) {
  return headscope::app::runProgram(argc, argv, HEADSCOPE_VERSION);
}
