// Linked into sanitizer builds alone: a driver that is unloaded before the leak report loses its
// module name there, so nothing is unloaded.
extern "C" int dlclose(void*) {
  return 0;
}

// Fontconfig keeps a few hundred bytes of its configuration until the process ends.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfontconfig";
}
