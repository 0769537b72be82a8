// The JIT's helper process (J7): compiles what arrives on a socket.
//
// Frame, both ways: u64 length, u64 id, `length` bytes; little-endian. A request's bytes are those
// of torchc_compile. Its answer has the same id and: u32 status (0, 1, 2 as torchc_compile), then
// for each piece of the answer u32 length of kind, u64 length of bytes, kind, bytes. Answers come
// in the order of the requests. A malformed request is answered with an error and the helper lives
// on. It ends when the socket is closed, when the program ends, or after a frame above 1 GiB (it is
// answered first).
#pragma once

namespace torchc {

/// Serves socket `fd` until the program with process id `parent` ends (0: don't watch). Returns the
/// exit code.
int serve(int fd, int parent);

} // namespace torchc
