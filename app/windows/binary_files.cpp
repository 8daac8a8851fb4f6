// Files are read and written byte for byte, also by libraries that don't ask for it: libzip's had line ends
// changed.

#include <fcntl.h>

extern "C" {
int _fmode = _O_BINARY;
}
