// Linked into sanitizer builds alone: a driver that is unloaded before the leak report loses its
// module name there, so nothing is unloaded.
extern "C" int dlclose(void*) {
  return 0;
}
