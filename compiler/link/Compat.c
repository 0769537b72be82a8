// Debian's archives were configured on glibc 2.36; these two keep a static compiler's floor
// at 2.34.
#include <link.h>
#include <sys/random.h>

unsigned arc4random(void) {
  unsigned value = 0;
  return getrandom(&value, sizeof value, 0) == sizeof value ? value : 0x9e3779b9u;
}

// The unwinder asks for the tables of an address; all code that throws lies in the executable.
struct FoundObject { // struct dl_find_object of glibc 2.35
  unsigned long long flags;
  void *mapStart, *mapEnd, *linkMap, *unwindTable;
};
extern const ElfW(Ehdr) __ehdr_start; // these two by the linker
extern char _end[];

int _dl_find_object(void *pc, struct FoundObject *result) {
  char *start = (char *)&__ehdr_start;
  const ElfW(Phdr) *header = (const void *)(start + __ehdr_start.e_phoff);
  if ((char *)pc < start || (char *)pc >= _end)
    return -1;
  for (int i = 0; i < __ehdr_start.e_phnum; i++)
    if (header[i].p_type == PT_GNU_EH_FRAME) { // addresses are as linked: the executable isn't position independent
      *result = (struct FoundObject){0, start, _end, 0, (void *)header[i].p_vaddr};
      return 0;
    }
  return -1;
}
