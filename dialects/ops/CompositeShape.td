//===- CompositeShape.td - views, joins and other moves of elements -----------------------------------------------===//

#ifndef TORCHC_OPS_COMPOSITESHAPE_TD
#define TORCHC_OPS_COMPOSITESHAPE_TD

include "OpSpec.td"

def : Composite<"dimensions of size 1 removed", [
  Api<"squeeze(Tensor input) -> Tensor", ["function", "method"], "squeezeAll">,
  Api<"squeeze(Tensor input, int dim) -> Tensor", ["function", "method"], "squeezeDim">,
  Api<"squeeze(Tensor input, int[] dim) -> Tensor", ["function", "method"], "squeezeDims">]>;
def : Composite<"a dimension of size 1 inserted", [
  Api<"unsqueeze(Tensor input, int dim) -> Tensor", ["function", "method"], "unsqueezeDim">]>;
def : Composite<"dimensions start_dim to end_dim joined", [
  Api<"flatten(Tensor input, int start_dim=0, int end_dim=-1) -> Tensor", ["function", "method"], "flattenDims">,
  Api<"ravel(Tensor input) -> Tensor", ["function", "method"], "ravelAll">]>;
def : Composite<"dimensions in another order", [
  Api<"permute(Tensor input, int[] dims) -> Tensor", ["function", "method"], "permuteDims">]>;
def : Composite<"another tensor's shape", [
  Api<"expand_as(Tensor input, Tensor other) -> Tensor", methodOnly, "expandAs">,
  Api<"view_as(Tensor input, Tensor other) -> Tensor", methodOnly, "viewAs">,
  Api<"reshape_as(Tensor input, Tensor other) -> Tensor", methodOnly, "reshapeAs">]>;
def : Composite<"summed over the dimensions that broadcasting would add or repeat", [
  Api<"sum_to_size(Tensor input, int[] size) -> Tensor", methodOnly, "sumToSize">]>;
def : Composite<"`length` indices of a dimension from `start` on", [
  Api<"narrow(Tensor input, int dim, int start, int length) -> Tensor", ["function", "method"], "narrowDim">,
  Api<"narrow(Tensor input, int dim, Tensor start, int length) -> Tensor", ["function", "method"], "narrowFrom">]>;
def : Composite<"one index of a dimension", [
  Api<"select(Tensor input, int dim, int index) -> Tensor", ["function", "method"], "selectIndex">,
  Api<"unbind(Tensor input, int dim=0) -> Tensor[]", ["function", "method"], "unbindDim">]>;
def : Composite<"pieces along a dimension", [
  Api<"split(Tensor input, int split_size, int dim=0) -> Tensor[]", ["function", "method"], "splitEvery">,
  Api<"split(Tensor input, int[] split_size, int dim=0) -> Tensor[]", ["function", "method"], "splitSizes">,
  Api<"unsafe_split(Tensor input, int split_size, int dim=0) -> Tensor[]", ["function", "method"], "unsafeSplitEvery">,
  Api<"unsafe_split_with_sizes(Tensor input, int[] split_sizes, int dim=0) -> Tensor[]", ["function", "method"], "unsafeSplitSizes">,
  Api<"unsafe_chunk(Tensor input, int chunks, int dim=0) -> Tensor[]", ["function", "method"], "unsafeChunk">,
  Api<"split_with_sizes(Tensor input, int[] split_sizes, int dim=0) -> Tensor[]", ["function", "method"], "splitSizes">,
  Api<"chunk(Tensor input, int chunks, int dim=0) -> Tensor[]", ["function", "method"], "chunkDim">]>;
def : Composite<"tensors joined along a new dimension", [
  Api<"stack(Tensor[] tensors, int dim=0) -> Tensor", ["function", "outCopy", "castWidest"], "stackNew">]>;
def : Composite<"tensors joined along the dimension that NumPy's function of this name takes", [
  Api<"hstack(Tensor[] tensors) -> Tensor", ["function", "outCopy"], "hstackAll">,
  Api<"vstack(Tensor[] tensors) -> Tensor", ["function", "outCopy"], "vstackAll">,
  Api<"row_stack(Tensor[] tensors) -> Tensor", ["function", "outCopy"], "vstackAll">,
  Api<"dstack(Tensor[] tensors) -> Tensor", ["function", "outCopy"], "dstackAll">,
  Api<"column_stack(Tensor[] tensors) -> Tensor", ["function", "outCopy"], "columnStack">]>;
def : Composite<"other names of cat", [
  Api<"concat(Tensor[] tensors, int dim=0) -> Tensor", ["function", "out", "castWidest"], "catPromoted">,
  Api<"concatenate(Tensor[] tensors, int dim=0) -> Tensor", ["function", "out", "castWidest"], "catPromoted">]>;
def : Composite<"matrices along the diagonal of one", [
  Api<"block_diag(Tensor[] *tensors) -> Tensor", functionOnly, "blockDiag">]>;
def : Composite<"views cut at equal distances or at indices; sizes differ by at most one", [
  Api<"tensor_split(Tensor input, int indices_or_sections, int dim=0) -> Tensor[]", ["function", "method"], "tensorSplitNumber">,
  Api<"tensor_split(Tensor input, int[] indices_or_sections, int dim=0) -> Tensor[]", ["function", "method"], "tensorSplitAt">,
  Api<"tensor_split(Tensor input, Tensor indices_or_sections, int dim=0) -> Tensor[]", ["function", "method"], "tensorSplitBy">]>;
foreach s = ["hsplit", "vsplit", "dsplit"] in
  def : Composite<"tensor_split along the dimension that NumPy's function of this name takes", [
    Api<s # "(Tensor input, int indices_or_sections) -> Tensor[]", ["function", "method"], s # "Number">,
    Api<s # "(Tensor input, int[] indices_or_sections) -> Tensor[]", ["function", "method"], s # "At">]>;
foreach n = ["1", "2", "3"] in
  def : Composite<"a view of at least so many dimensions; of several tensors a tuple", [
    Api<"atleast_" # n # "d(Tensor input) -> Tensor", functionOnly, "atLeast" # n>,
    Api<"atleast_" # n # "d(Tensor[] *tensors) -> Tensor[]", functionOnly, "atLeast" # n # "All">]>;
def : Composite<"views of the shape that tensors broadcast to", [
  Api<"broadcast_tensors(Tensor[] *tensors) -> Tensor[]", functionOnly, "broadcastTensors">,
  Api<"broadcast_to(Tensor input, int[] size) -> Tensor", ["function", "method"], "broadcastTo">]>;
def : Composite<"grids of coordinates: one dimension per tensor", [
  Api<"meshgrid(Tensor[] *tensors, *, str? indexing=None) -> Tensor[]", functionOnly, "meshGrid">]>;
def : Composite<"all tuples of one element each, as rows", [
  Api<"cartesian_prod(Tensor[] *tensors) -> Tensor", functionOnly, "cartesianProduct">,
  Api<"combinations(Tensor input, int r=2, bool with_replacement=False) -> Tensor", functionOnly, "combinationsOf">]>;

//===-- moves --------------------------------------------------------------------------------------------------===//

def : Composite<"elements of dimensions in reverse order; a copy", [
  Api<"flip(Tensor input, int[] dims) -> Tensor", ["function", "method"], "flipDims">,
  Api<"fliplr(Tensor input) -> Tensor", ["function", "method"], "flipLr">,
  Api<"flipud(Tensor input) -> Tensor", ["function", "method"], "flipUd">]>;
def : Composite<"elements moved along dimensions, what leaves at one end enters at the other", [
  Api<"roll(Tensor input, int[] shifts, int[] dims=()) -> Tensor", ["function", "method"], "rollDims">]>;
def : Composite<"turned by 90 degrees k times, from the first of dims towards the second (default 0 and 1)", [
  Api<"rot90(Tensor input, int k=1, int[]? dims=None) -> Tensor", ["function", "method"], "rot90Dims">]>;
def : Composite<"copies of the tensor side by side", [
  Api<"repeat(Tensor input, int[] repeats) -> Tensor", methodOnly, "repeatDims">,
  Api<"tile(Tensor input, int[] dims) -> Tensor", ["function", "method"], "tileDims">]>;
def : Composite<"each element several times", [
  Api<"repeat_interleave(Tensor input, int repeats, int? dim=None, *, int? output_size=None) -> Tensor", ["function", "method"], "interleaveNumber">,
  Api<"repeat_interleave(Tensor input, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor", ["function", "method"], "interleaveTensor">,
  Api<"repeat_interleave(Tensor repeats, *, int? output_size=None) -> Tensor", functionOnly, "interleaveIndices">]>;
def : Composite<"dimensions moved to other places, the rest in order", [
  Api<"movedim(Tensor input, int[] source, int[] destination) -> Tensor", ["function", "method"], "moveDims">,
  Api<"moveaxis(Tensor input, int[] source, int[] destination) -> Tensor", ["function", "method"], "moveDims">]>;
def : Composite<"two dimensions exchanged", [
  Api<"swapaxes(Tensor input, int axis0, int axis1) -> Tensor", ["function", "method"], "transposeDims">,
  Api<"swapdims(Tensor input, int dim0, int dim1) -> Tensor", ["function", "method"], "transposeDims">,
  Api<"adjoint(Tensor input) -> Tensor", ["function", "method"], "adjointOf">]>;
def : Composite<"one dimension as several; one size may be -1", [
  Api<"unflatten(Tensor input, int dim, int[] sizes) -> Tensor", ["function", "method"], "unflattenDim">]>;
def : Composite<"channels spread over space, and back", [
  Api<"pixel_shuffle(Tensor input, int upscale_factor) -> Tensor", functionOnly, "pixelShuffle">,
  Api<"pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor", functionOnly, "pixelUnshuffle">,
  Api<"channel_shuffle(Tensor input, int groups) -> Tensor", functionOnly, "channelShuffle">]>;

//===-- diagonals and triangles --------------------------------------------------------------------------------===//

def : Composite<"a triangle of matrices, zeros elsewhere; diagonal 1 is the one above the main one", [
  Api<"tril(Tensor input, int diagonal=0) -> Tensor", ["function", "method", "outCopy", "inplaceCopy"], "trilOf">,
  Api<"triu(Tensor input, int diagonal=0) -> Tensor", ["function", "method", "outCopy", "inplaceCopy"], "triuOf">]>;
def : Composite<"the diagonal of two dimensions as the last one; a view", [
  Api<"diagonal(Tensor input, int offset=0, int dim1=0, int dim2=1) -> Tensor", ["function", "method"], "diagonalOf">]>;
def : Composite<"the last dimension as the diagonal of two new ones", [
  Api<"diag_embed(Tensor input, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", ["function", "method"], "diagonalEmbed">]>;
def : Composite<"a matrix with this diagonal, or the diagonal of this matrix as a copy", [
  Api<"diag(Tensor input, int diagonal=0) -> Tensor", ["function", "method", "outCopy"], "diagOf">,
  Api<"diagflat(Tensor input, int offset=0) -> Tensor", ["function", "method"], "diagFlat">]>;
def : Composite<"the sum of the diagonal", [
  Api<"trace(Tensor input) -> Tensor", ["function", "method", "castSingle"], "traceOf">]>;
def : Composite<"with a diagonal replaced", [
  Api<"diagonal_scatter(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", ["function", "method"], "diagonalScatter">,
  Api<"fill_diagonal(Tensor input, Scalar fill_value, bool wrap=False) -> Tensor", inplaceOnly, "fillDiagonal">]>;

//===-- borders, windows, sizes --------------------------------------------------------------------------------===//

def : Composite<"a border around the last dimensions: pairs of sizes, the last dimension's first", [
  Api<"constant_pad_nd(Tensor input, int[] pad, Scalar value=0) -> Tensor", functionOnly, "constantPad">,
  Api<"pad(Tensor input, int[] pad, str mode='constant', Scalar? value=None) -> Tensor", functionOnly, "padDims">]>;
def : Composite<"sliding windows as columns, and the sum of columns back in place", [
  Api<"im2col(Tensor input, int[] kernel_size, int[] dilation, int[] padding, int[] stride) -> Tensor", ["private"], "unfoldWindows">,
  Api<"col2im(Tensor input, int[] output_size, int[] kernel_size, int[] dilation, int[] padding, int[] stride) -> Tensor", ["private"], "foldWindows">]>;
def : Composite<"images of another size", [
  Api<"interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode='nearest', bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor", functionOnly, "interpolateTo">]>;

def : Composite<"images read at the points of a grid; the points that an affine map sends a grid to", [
  Api<"grid_sample(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool? align_corners=None) -> Tensor", ["function", "castSingle"], "gridSample">,
  Api<"grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor", ["function", "castSingle"], "gridSampler">,
  Api<"grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor", ["function", "castSingle"], "gridSampler">,
  Api<"grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor", ["function", "castSingle"], "gridSampler">,
  Api<"affine_grid(Tensor theta, int[] size, bool? align_corners=None) -> Tensor", functionOnly, "affineGrid">]>;

//===-- values of a mask ---------------------------------------------------------------------------------------===//

def : Composite<"where elements are non-zero: one row per place, or one tensor per dimension", [
  Api<"nonzero(Tensor input, *, bool as_tuple=False) -> Tensor|Tensor[]", ["function", "method"], "nonzeroOf">,
  Api<"argwhere(Tensor input) -> Tensor", ["function", "method"], "argWhere">,
  Api<"where(Tensor condition) -> Tensor[]", functionOnly, "whereTrue">,
  Api<"nonzero_static(Tensor input, *, int size, int fill_value=-1) -> Tensor", ["function", "method"], "nonzeroStatic">]>;
def : Composite<"the elements where a mask is true, in row-major order", [
  Api<"masked_select(Tensor input, Tensor mask) -> Tensor", ["function", "method", "outCopy"], "maskedSelect">,
  Api<"masked_scatter(Tensor input, Tensor mask, Tensor source) -> Tensor", ["function", "method", "inplaceCopy"], "maskedScatter">]>;

//===-- by index -----------------------------------------------------------------------------------------------===//

def : Composite<"elements of the flattened tensor", [
  Api<"take(Tensor input, Tensor index) -> Tensor", ["function", "method", "outCopy"], "takeFlat">,
  Api<"put(Tensor input, Tensor index, Tensor source, bool accumulate=False) -> Tensor", ["function", "method", "inplaceCopy"], "putFlat">]>;
def : Composite<"gather with the other dimensions broadcast; without dim of the flattened tensor", [
  Api<"take_along_dim(Tensor input, Tensor indices, int? dim=None) -> Tensor", ["function", "method", "outCopy"], "takeAlong">]>;
def : Composite<"slices of a dimension replaced", [
  Api<"index_copy(Tensor input, int dim, Tensor index, Tensor source) -> Tensor", ["function", "method", "inplaceCopy", "outCopy", "castWidest"], "indexCopy">,
  Api<"index_fill(Tensor input, int dim, Tensor index, Operand value) -> Tensor", ["function", "method", "inplaceCopy"], "indexFill">,
  Api<"slice_scatter(Tensor input, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor", ["function", "method", "outCopy"], "sliceScatter">,
  Api<"select_scatter(Tensor input, Tensor src, int dim, int index) -> Tensor", ["function", "method"], "selectScatter">]>;
def : Composite<"sources combined at an index: sum, prod, mean, amax or amin", [
  Api<"scatter_reduce(Tensor input, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor", ["function", "method", "inplaceCopy", "outCopy"], "scatterReduce">,
  Api<"scatter(Tensor input, int dim, Tensor index, Operand src, *, str reduce) -> Tensor", ["function", "method", "inplaceCopy", "outCopy"], "scatterWithReduce">,
  Api<"index_reduce(Tensor input, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor", ["function", "method", "inplaceCopy", "outCopy"], "indexReduce">]>;
def : Composite<"indices of a flattened tensor as those of each dimension", [
  Api<"unravel_index(Tensor indices, int[] shape) -> Tensor[]", functionOnly, "unravelIndex">]>;

//===-- views as copies ----------------------------------------------------------------------------------------===//

def : Composite<"what the function without `_copy` gives, as a copy", [
  Api<"alias_copy(Tensor input) -> Tensor", ["function", "outCopy"], "cloneOf">,
  Api<"detach_copy(Tensor input) -> Tensor", ["function", "outCopy"], "cloneOf">,
  Api<"diagonal_copy(Tensor input, int offset=0, int dim1=0, int dim2=1) -> Tensor", ["function", "outCopy"], "diagonalCopy">,
  Api<"expand_copy(Tensor input, int[] size) -> Tensor", ["function", "outCopy"], "expandCopy">,
  Api<"permute_copy(Tensor input, int[] dims) -> Tensor", ["function", "outCopy"], "permuteCopy">,
  Api<"select_copy(Tensor input, int dim, int index) -> Tensor", ["function", "outCopy"], "selectCopy">,
  Api<"narrow_copy(Tensor input, int dim, int start, int length) -> Tensor", ["function", "method", "outCopy"], "narrowCopy">,
  Api<"squeeze_copy(Tensor input) -> Tensor", ["function", "outCopy"], "squeezeCopyAll">,
  Api<"squeeze_copy(Tensor input, int dim) -> Tensor", ["function", "outCopy"], "squeezeCopyDim">,
  Api<"squeeze_copy(Tensor input, int[] dim) -> Tensor", ["function", "outCopy"], "squeezeCopyDims">,
  Api<"unsqueeze_copy(Tensor input, int dim) -> Tensor", ["function", "outCopy"], "unsqueezeCopy">,
  Api<"t_copy(Tensor input) -> Tensor", ["function", "outCopy"], "tCopy">,
  Api<"transpose_copy(Tensor input, int dim0, int dim1) -> Tensor", ["function", "outCopy"], "transposeCopy">,
  Api<"view_copy(Tensor input, int[] size) -> Tensor", ["function", "outCopy"], "viewCopy">,
  Api<"unbind_copy(Tensor input, int dim=0) -> Tensor[]", functionOnly, "unbindCopy">,
  Api<"split_with_sizes_copy(Tensor input, int[] split_sizes, int dim=0) -> Tensor[]", functionOnly, "splitSizesCopy">]>;

#endif
