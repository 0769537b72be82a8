// The wire format: protozero over borrowed bytes, with the field numbers of onnx's schema. A field of another wire type
// than the schema's throws as any other malformed input does.
#pragma once
#include <cstdint>
#include <stdexcept>

namespace torchc::onnx::detail {
[[noreturn]] void wrongWireType();
}
#define protozero_assert(x) ((x) ? void() : ::torchc::onnx::detail::wrongWireType())
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace torchc::onnx {

using Bytes = protozero::data_view;

namespace pb {
#define TORCHC_ONNX_FIELDS
#include "torchc-gen/OnnxTables.inc"
#undef TORCHC_ONNX_FIELDS
} // namespace pb

} // namespace torchc::onnx
