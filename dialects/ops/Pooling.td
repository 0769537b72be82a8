//===- Pooling.td - extremes and means over windows --------------------------------------------------------===//

#ifndef TORCHC_OPS_POOLING_TD
#define TORCHC_OPS_POOLING_TD

include "OpSpec.td"

// `size` is the output's (for avg_pool_input the input's). Over the last size.size() dimensions (1 to 3); all others are planes. Window o of a dimension starts at
// o * stride - padding and takes `kernel` elements, `dilation` apart; what lies outside takes no part. An empty kernel
// means adaptive windows: [floor(o * in / out), ceil((o + 1) * in / out)), and the other lists are empty too.

class PoolOp<string mnemonic, dag attrs> : Torchc_Op<mnemonic> {
  let family = PoolingFamily;
  let arguments = !con((ins AnyRankedTensor:$x, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$kernel,
                            DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding), attrs);
  let shape = PoolShape;
}

def Torchc_MaxPoolOp : PoolOp<"max_pool", (ins DenseI64ArrayAttr:$dilation)> {
  let summary = "largest element of each window (N7)";
  let api = [Api<"max_pool1d(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), int[] dilation=(1,), bool ceil_mode=False) -> Tensor", ["function"], "maxPool1d">,
             Api<"max_pool2d(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), int[] dilation=(1,), bool ceil_mode=False) -> Tensor", ["function"], "maxPool2d">,
             Api<"max_pool3d(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), int[] dilation=(1,), bool ceil_mode=False) -> Tensor", ["function", "castSingle"], "maxPool3d">];
  let vjpFn = "maxPoolVjp";
  let vjpSaves = ["x"];
}

// Each element of `y`, a cotangent of max_pool(x), is added where its window's first largest element lies: one chain from +0,
// windows in row-major order.
def Torchc_MaxPoolInputOp : Torchc_Op<"max_pool_input"> {
  let summary = "max_pool's gradient";
  let family = PoolingFamily;
  let arguments = (ins AnyRankedTensor:$y, AnyRankedTensor:$x, DenseI64ArrayAttr:$size, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding, DenseI64ArrayAttr:$dilation);
  let shape = PoolScatterShape;
  let flags = ["accumulates"];
  let vjpFn = "maxPoolInputVjp";
  let vjpSaves = ["x"];
}

def Torchc_MaxPoolIndexOp : PoolOp<"max_pool_index", (ins DenseI64ArrayAttr:$dilation)> {
  let summary = "where the first largest element of each window lies: its row-major index in the plane, int64";
  let shape = PoolIndexShape;
  let api = [Api<"max_pool1d_with_indices(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), int[] dilation=(1,), bool ceil_mode=False) -> (Tensor, Tensor)", ["function"], "maxPool1dWithIndices">,
             Api<"max_pool2d_with_indices(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), int[] dilation=(1,), bool ceil_mode=False) -> (Tensor, Tensor)", ["function"], "maxPool2dWithIndices">,
             Api<"max_pool3d_with_indices(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), int[] dilation=(1,), bool ceil_mode=False) -> (Tensor, Tensor)", ["function"], "maxPool3dWithIndices">,
             Api<"adaptive_max_pool1d(Tensor input, int[] output_size) -> (Tensor, Tensor)", ["function"], "adaptiveMaxPool1d">,
             Api<"adaptive_max_pool2d(Tensor input, int[] output_size) -> (Tensor, Tensor)", ["function"], "adaptiveMaxPool2d">,
             Api<"adaptive_max_pool3d(Tensor input, int[] output_size) -> (Tensor, Tensor)", ["function", "castSingle"], "adaptiveMaxPool3d">];
}

// One chain from +0 in row-major order (N4), then divided by the count: the elements of the window, with those of the
// padding if count_padding, or `divisor` if that isn't 0.
def Torchc_AvgPoolOp : PoolOp<"avg_pool", (ins BoolAttr:$count_padding, I64Attr:$divisor)> {
  let summary = "mean of each window";
  let api = [Api<"avg_pool1d(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), bool ceil_mode=False, bool count_include_pad=True) -> Tensor", ["function"], "avgPool1d">,
             Api<"avg_pool2d(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor", ["function", "outCopy"], "avgPool2d">,
             Api<"avg_pool3d(Tensor input, int[] kernel_size, int[] stride=(), int[] padding=(0,), bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor", ["function", "outCopy", "castSingle"], "avgPool3d">,
             Api<"adaptive_avg_pool1d(Tensor input, int[] output_size) -> Tensor", ["function"], "adaptiveAvgPool1d">,
             Api<"adaptive_avg_pool2d(Tensor input, int[] output_size) -> Tensor", ["function"], "adaptiveAvgPool2d">,
             Api<"adaptive_avg_pool3d(Tensor input, int[] output_size) -> Tensor", ["function", "castSingle"], "adaptiveAvgPool3d">];
  let flags = ["accumulates"];
  let vjpFn = "avgPoolVjp";
}

// x is a cotangent of avg_pool's result, `size` the spatial size of avg_pool's input. Each element adds x / count of the
// windows that hold it in one chain from +0, windows in row-major order.
def Torchc_AvgPoolInputOp : PoolOp<"avg_pool_input", (ins BoolAttr:$count_padding, I64Attr:$divisor)> {
  let summary = "avg_pool's gradient";
  let shape = PoolInputShape;
  let flags = ["accumulates"];
  let vjpFn = "avgPoolInputVjp";
}

#endif
