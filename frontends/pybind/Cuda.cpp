// The cuda device as python/torchc/cuda uses it: devices, memory, streams and events (capsules).
#include "frontends/eager/cuda/Cuda.h"
#include "frontends/pybind/Args.h"
#include "runtime/cuda/Cuda.h"
#include "runtime/cuda/Driver.h"

namespace torchc::py {
namespace {

constexpr char streamName[] = "torchc.cuda.stream", eventName[] = "torchc.cuda.event";

cuda::CudaDevice &deviceOf(PyObject *o) {
  int64_t index = intArg(o);
  if (index < -1 || index >= maxDeviceIndex)
    fail("CUDA error: invalid device ordinal: " + std::to_string(index));
  cuda::requireDevice({DeviceKind::Cuda, int8_t(index)});
  return *cuda::device(int(index));
}
template <class T> T *pointerIn(PyObject *capsule, const char *name) {
  auto *p = static_cast<T *>(PyCapsule_GetPointer(capsule, name));
  if (!p)
    throw PythonError();
  return p;
}
cuda::CudaStream &streamOf(PyObject *o) { return *pointerIn<cuda::CudaStream>(o, streamName); }
cuda::Event &eventOf(PyObject *o) { return *pointerIn<cuda::Event>(o, eventName); }
PyObject *streamObject(cuda::CudaStream &s) { return check(PyCapsule_New(&s, streamName, nullptr)); }

/// Calls f(args...) for exactly `n` arguments, and reports what CUDA has.
template <class F> PyObject *call(PyObject *const *args, Py_ssize_t n, Py_ssize_t wanted, F f) {
  return guarded([&]() -> PyObject * {
    if (n != wanted)
      typeError("expected " + std::to_string(wanted) + " arguments, got " + std::to_string(n));
    Ref result(f(args));
    cuda::checkErrors();
    return result.take();
  });
}
PyObject *none() { return Py_NewRef(Py_None); }
template <class F> void unlocked(F f) {
  GilRelease release;
  f();
}

PyObject *deviceCount(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 0, [](auto) { return PyLong_FromLong(cuda::openDevices()); });
}
PyObject *problem(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 0, [](auto) { return PyUnicode_FromString(cuda::driverProblem().c_str()); });
}
PyObject *currentDevice(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 0, [](auto) { return PyLong_FromLong(cuda::currentDevice()); });
}
PyObject *setDevice(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    cuda::setCurrentDevice(deviceOf(args[0]).index());
    return none();
  });
}
PyObject *properties(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    const cuda::Properties &p = deviceOf(args[0]).properties();
    return Py_BuildValue("{s:s,s:K,s:i,s:i,s:i,s:i,s:i}", "name", p.name.c_str(), "total_memory",
                         (unsigned long long)p.totalBytes, "major", p.major, "minor", p.minor, "multi_processor_count",
                         p.multiprocessors, "warp_size", p.warpSize, "max_threads_per_multi_processor",
                         p.threadsPerMultiprocessor);
  });
}
PyObject *memGetInfo(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    deviceOf(args[0]).use();
    size_t available = 0, total = 0;
    cuda::check(cuda::driver()->cuMemGetInfo(&available, &total));
    return Py_BuildValue("KK", (unsigned long long)available, (unsigned long long)total);
  });
}

PyObject *memoryStats(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) -> PyObject * {
    cuda::AllocatorStats s = deviceOf(args[0]).allocator().stats();
    Ref dict(check(PyDict_New()));
    auto put = [&](const std::string &key, int64_t v) {
      Ref number(check(PyLong_FromLongLong(v)));
      if (PyDict_SetItemString(dict.get(), key.c_str(), number.get()))
        throw PythonError();
    };
    auto counts = [&](const char *name, const cuda::AllocatorStats::Count &c) {
      std::string stem = std::string(name) + ".all.";
      put(stem + "current", c.current);
      put(stem + "peak", c.peak);
      put(stem + "allocated", c.allocated);
      put(stem + "freed", c.freed);
    };
    counts("allocation", s.allocation);
    counts("segment", s.segment);
    counts("allocated_bytes", s.activeBytes);
    counts("active_bytes", s.activeBytes);
    counts("reserved_bytes", s.reservedBytes);
    counts("requested_bytes", s.requestedBytes);
    put("num_alloc_retries", s.retries);
    put("num_ooms", s.outOfMemory);
    return dict.take();
  });
}
PyObject *resetPeak(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) { return deviceOf(args[0]).allocator().resetPeak(), none(); });
}
PyObject *emptyCache(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    cuda::CudaDevice &d = deviceOf(args[0]);
    unlocked([&] { d.allocator().emptyCache(); });
    return none();
  });
}
PyObject *synchronize(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    cuda::CudaDevice &d = deviceOf(args[0]);
    unlocked([&] { d.synchronize(); });
    return none();
  });
}

PyObject *newStream(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) -> PyObject * {
    cuda::CudaStream *s = deviceOf(args[0]).newStream();
    cuda::checkErrors();
    return streamObject(*s);
  });
}
PyObject *currentStream(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) { return streamObject(cuda::currentStream(deviceOf(args[0]))); });
}
PyObject *defaultStream(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    return streamObject(static_cast<cuda::CudaStream &>(deviceOf(args[0]).defaultStream()));
  });
}
PyObject *setStream(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) { return cuda::setCurrentStream(streamOf(args[0])), none(); });
}
PyObject *streamInfo(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    cuda::CudaStream &s = streamOf(args[0]);
    return Py_BuildValue("iKK", s.cudaDevice().index(), (unsigned long long)s.id(), (unsigned long long)s.raw());
  });
}
PyObject *streamQuery(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) { return PyBool_FromLong(streamOf(args[0]).query()); });
}
PyObject *streamSynchronize(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    cuda::CudaStream &s = streamOf(args[0]);
    unlocked([&] { s.synchronize(); });
    return none();
  });
}
PyObject *recordStream(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 2, [](auto args) {
    TensorImpl *t = isTensor(args[0]) ? implOf(args[0]) : nullptr;
    if (!t || t->device != cudaDevice)
      fail("record_stream(): expected a cuda tensor");
    cuda::CudaStream &s = streamOf(args[1]);
    s.cudaDevice().allocator().record(t->storage->data, s.raw());
    return none();
  });
}

PyObject *newEvent(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    auto destroy = [](PyObject *o) { delete static_cast<cuda::Event *>(PyCapsule_GetPointer(o, eventName)); };
    return check(PyCapsule_New(new cuda::Event(args[0] == Py_True), eventName, destroy));
  });
}
PyObject *eventRecord(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 2, [](auto args) { return eventOf(args[0]).record(streamOf(args[1])), none(); });
}
PyObject *eventWait(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 2, [](auto args) { return eventOf(args[0]).wait(streamOf(args[1])), none(); });
}
PyObject *eventQuery(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) { return PyBool_FromLong(eventOf(args[0]).query()); });
}
PyObject *eventSynchronize(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 1, [](auto args) {
    cuda::Event &e = eventOf(args[0]);
    unlocked([&] { e.synchronize(); });
    return none();
  });
}
PyObject *eventElapsed(PyObject *, PyObject *const *a, Py_ssize_t n) {
  return call(a, n, 2, [](auto args) -> PyObject * {
    cuda::Event &from = eventOf(args[0]), &to = eventOf(args[1]);
    if (!from.timed() || !to.timed())
      raise(PyExc_ValueError, "Both events must be created with argument 'enable_timing=True'.");
    if (!from.recorded() || !to.recorded())
      raise(PyExc_ValueError, "Both events must be recorded before calculating elapsed time.");
    float ms = 0;
    from.elapsed(to, ms);
    return PyFloat_FromDouble(double(ms));
  });
}

#define TORCHC_METHOD(name, function)                                                                                  \
  {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, nullptr}
PyMethodDef methods[] = {TORCHC_METHOD("_cuda_device_count", deviceCount),
                         TORCHC_METHOD("_cuda_problem", problem),
                         TORCHC_METHOD("_cuda_current_device", currentDevice),
                         TORCHC_METHOD("_cuda_set_device", setDevice),
                         TORCHC_METHOD("_cuda_properties", properties),
                         TORCHC_METHOD("_cuda_mem_get_info", memGetInfo),
                         TORCHC_METHOD("_cuda_memory_stats", memoryStats),
                         TORCHC_METHOD("_cuda_reset_peak", resetPeak),
                         TORCHC_METHOD("_cuda_empty_cache", emptyCache),
                         TORCHC_METHOD("_cuda_synchronize", synchronize),
                         TORCHC_METHOD("_cuda_new_stream", newStream),
                         TORCHC_METHOD("_cuda_current_stream", currentStream),
                         TORCHC_METHOD("_cuda_default_stream", defaultStream),
                         TORCHC_METHOD("_cuda_set_stream", setStream),
                         TORCHC_METHOD("_cuda_stream_info", streamInfo),
                         TORCHC_METHOD("_cuda_stream_query", streamQuery),
                         TORCHC_METHOD("_cuda_stream_synchronize", streamSynchronize),
                         TORCHC_METHOD("_cuda_record_stream", recordStream),
                         TORCHC_METHOD("_cuda_new_event", newEvent),
                         TORCHC_METHOD("_cuda_event_record", eventRecord),
                         TORCHC_METHOD("_cuda_event_wait", eventWait),
                         TORCHC_METHOD("_cuda_event_query", eventQuery),
                         TORCHC_METHOD("_cuda_event_synchronize", eventSynchronize),
                         TORCHC_METHOD("_cuda_event_elapsed", eventElapsed),
                         {}};
#undef TORCHC_METHOD

} // namespace

bool addCuda(PyObject *module) { return PyModule_AddFunctions(module, methods) == 0; }

} // namespace torchc::py
