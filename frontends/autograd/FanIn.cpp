#include "frontends/autograd/FanIn.h"
#include "frontends/eager/Dispatch.h"
#include "frontends/eager/Modes.h"

namespace torchc {
namespace {

/// Neither a tape nor a tracer sees what is computed with these.
bool unseen(const Tensor &a, const Tensor &b) {
  constexpr uint32_t traced = FlagRecording | FlagRetracing | FlagPending;
  return !((threadState.modes.flags | a->flags | b->flags) & traced) && !isGradEnabled();
}

} // namespace

bool ownedAlone(const Tensor &t) {
  return t->refs.get() == 1 && t->storage && t->storage->refs.get() == 1 && t->contiguous();
}

Tensor addCotangents(const Tensor &a, const Tensor &b) {
  if (unseen(a, b) && ownedAlone(a) && b->contiguous() && a->dtype == b->dtype && sameShape(a.impl(), b.impl())) {
    inplace(OpId::Add, a.impl(), b.impl());
    return a;
  }
  return Tensor(binary(OpId::Add, a.impl(), b.impl()));
}

Tensor addToSlice(Tensor sum, const Attr *slice, const Tensor &g) {
  const Attr &dim = slice[0], &start = slice[1], &stop = slice[2], &step = slice[3];
  bool here = unseen(sum, g) && ownedAlone(sum) && sum->dtype == g->dtype;
  Tensor part = callOp(OpId::Slice, {sum}, {dim, start, stop, step});
  if (here) {
    inplace(OpId::Add, part.impl(), g.impl());
    return sum;
  }
  return callOp(OpId::SliceUpdate, {sum, callOp(OpId::Add, {part, g})}, {dim, start, stop, step});
}

} // namespace torchc
