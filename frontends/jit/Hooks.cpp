// What the dispatcher calls while a thread records or re-traces. ThreadState::run is the thread's Call.
#include "frontends/jit/Function.h"

namespace torchc::jit {
namespace {

Call *current() { return static_cast<Call *>(threadState.run); }

TensorImpl *lazyOp(const OpCall &call) {
  Call *c = current();
  if (!c || !c->run() || c->run()->left()) { // a mode guard may have restored the flag
    changeFlags(0, FlagRetracing);
    return nullptr;
  }
  return c->run()->op(call);
}

void recordOp(const OpCall &call, TensorImpl *result) {
  if (Call *c = current(); c && c->tracer())
    c->tracer()->record(call, result);
  else
    changeFlags(0, FlagRecording);
}

/// A value is needed: ends the segment that makes it.
void observe(TensorImpl *t) {
  Call *c = current();
  if (!c)
    return;
  uint32_t flags = threadState.modes.flags;
  if (c->tracer() && (flags & FlagRecording))
    c->tracer()->observe(t);
  else if (c->run() && (!t || (t->storage && t->storage->deferred == reinterpret_cast<uint64_t>(c->run()))))
    c->run()->observe();
}

void materialize(TensorImpl *t) {
  observe(t);
  Storage *s = t->storage;
  if (s && s->deferred > storageLost)
    Run::computeElsewhere(s);
  if (s && s->deferred > storageLost) // a forked child doesn't have the thread
    fail("this tensor is being computed by a compiled function in another thread");
  if (t->flags & FlagPending)
    settle(t);
}

void effect(Effect kind, TensorImpl *t) {
  Call *c = current();
  if (!c)
    return;
  if (kind == Effect::ReadValue)
    observe(t);
  if (kind != Effect::SetData)
    return;
  t->tag = 0;
  if (c->tracer())
    c->tracer()->refuse("the data of a tensor is replaced (x.data = y)");
  if (c->run())
    c->run()->leave("the data of a tensor was replaced");
}

void flush() { observe(nullptr); }

void opaque(const char *name) {
  if (Call *c = current())
    c->opaque(name);
}

void checkWrite(TensorImpl *t) {
  if (Call *c = current(); c && c->tracer())
    c->tracer()->checkWrite(t);
}

} // namespace

void installHooks() { jitHooks = {lazyOp, recordOp, effect, materialize, flush, opaque, checkWrite}; }

} // namespace torchc::jit
