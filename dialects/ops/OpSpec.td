//===- OpSpec.td - what one op record says -----------------------------------------------------------------===//
//
// The vocabulary of the op table. A record is an MLIR op definition (read by mlir-tblgen) that also carries the
// fields below (read by torchc-tblgen): the API it answers to, how it promotes, its scalar bodies, its derivative.
// dialects/README.md shows how to add an op of each kind.
//
//===----------------------------------------------------------------------------------------------------------===//

#ifndef TORCHC_OPS_OPSPEC_TD
#define TORCHC_OPS_OPSPEC_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Torchc_Dialect : Dialect {
  let name = "torchc";
  let cppNamespace = "::torchc::ir";
  let summary = "Tensors in value semantics: what a trace means once views and writes are gone.";
}

// Results are what dialects/rules/Infer says; one verifier for all ops.
def TorchcOpTrait : NativeOpTrait<"TorchcOp"> {
  let cppNamespace = "::torchc::ir";
}

//===-- scalar bodies ------------------------------------------------------------------------------------------===//
// A body is a list of statements. A statement's operator may be named, `(Fma:$t $x, ...)`, and later statements use
// `$t`; the last one is the result. Operands have the record's names. Types: T is the compute type, I the integer of
// T's width, i1 a truth value. The semantics are those of dialects/rules/Body.h.

class BodyOp<string name> { string cppName = name; }
foreach n = ["Arg", "Const", "Bits", "ConstI", "Add", "Sub", "Mul", "Div", "Neg", "Abs", "Sqrt", "Fma", "Min", "Max",
             "Floor", "RoundEven", "Lt", "Le", "Gt", "Ge", "Eq", "Ne", "IsNan", "And", "Or", "Xor", "Not", "Select",
             "ToInt", "FromInt", "IAdd", "ISub", "IMul", "IAnd", "IOr", "IXor", "IShl", "IShr", "IUShr", "IFromF",
             "FFromI"] in
  def n : BodyOp<n>;
def LinearIndex : BodyOp<"Index">;

//===-- derivatives --------------------------------------------------------------------------------------------===//
// A VJP is a dag per operand over ops: `(op<"mul"> $g, $y)`. `$g` is the cotangent of the result, `$result` the result;
// operands have the record's names, strings are numbers, a bare `$g` is passed on as `(op<"identity"> $g)`. `(none)`
// marks an operand without a gradient. What a dag can't say is a template in dialects/rules/Vjp.h, named by `vjpFn`.
// Complex: the gradient of f at z is g * conj(f'(z)) (PyTorch's convention), so the formula for real numbers serves every
// holomorphic f, between two conjugations; the flag `conjugates` marks rules that are written for that convention.
// Un-broadcasting and the return to the operand's type happen once, outside.

class op<string n> { string opName = n; }
def none;

//===-- fields -------------------------------------------------------------------------------------------------===//

// How operands meet before the kernel runs, and what type comes out.
// `text` is its sentence in docstrings.
class Promote<string n, string text> { string cppName = n; string doc = text; }
def NoPromotion  : Promote<"None", "">; // the shape rule decides the type
def CommonType   : Promote<"Common", "dtypes: operands are promoted to their common type, the result's.">;
def CommonFloat  : Promote<"Float", "dtypes: operands are promoted to their common type, integers and bool to the default float type; it is the result's.">;
def MagnitudeType : Promote<"Magnitude", "dtypes: the result has the input's, of complex numbers that of their parts.">;
def ComparedType : Promote<"Compare", "dtypes: compared in the common type; the result is bool.">;
def TruthType    : Promote<"Truth", "dtypes: what isn't 0 is true; the result is bool.">;
def BranchType   : Promote<"Branch", "dtypes: the condition is bool; the others are promoted to their common type, the result's.">;

// Which function of dialects/rules/Infer.cpp gives the result's shape (and type, under NoPromotion).
// `text` is its sentence in docstrings.
class ShapeRule<string n, string text = ""> { string cppName = n; string doc = text; }
def RealPartsShape   : ShapeRule<"RealParts", "shapes: (*) gives (*, 2).">;
def ComplexPairsShape : ShapeRule<"ComplexPairs", "shapes: (*, 2) gives (*).">;
foreach n = ["Cast", "Reshape", "Slice", "SliceUpdate", "Full", "Arange", "Random", "RandomInt", "Mode", "ConvInput",
             "ConvWeight", "PoolIndex", "PoolInput", "PoolScatter", "AsStrided", "AsStridedUpdate"] in
  def n#"Shape" : ShapeRule<n>;
def BroadcastShape   : ShapeRule<"Broadcast", "shapes: operands broadcast.">;
def LikeShape        : ShapeRule<"Like", "shapes: the result has the input's.">;
def ScanShape        : ShapeRule<"Scan", "shapes: the result has the input's.">;
def SortShape        : ShapeRule<"Sort", "shapes: the results have the input's.">;
def ReduceShape      : ShapeRule<"Reduce", "shapes: the reduced dimensions go, or become 1 with keepdim.">;
def ArgReduceShape   : ShapeRule<"ArgReduce", "shapes: the reduced dimension goes, or becomes 1 with keepdim. The result is int64.">;
def MatmulShape      : ShapeRule<"Matmul", "shapes: (*, n, k) and (*, k, m) give (*, n, m); leading dimensions broadcast, a vector's missing one goes again.">;
def DotShape         : ShapeRule<"Dot", "shapes: (n) and (n) give ().">;
def TransposeShape   : ShapeRule<"Transpose", "shapes: two dimensions change places.">;
def ExpandShape      : ShapeRule<"Expand", "shapes: dimensions of size 1 become larger, new ones come first; -1 keeps a size.">;
def CatShape         : ShapeRule<"Cat", "shapes: equal but for the dimension along which they are joined.">;
def IndexSelectShape : ShapeRule<"IndexSelect", "shapes: the indexed dimension gets the index's length.">;
def IndexUpdateShape : ShapeRule<"IndexUpdate", "shapes: the result has the input's.">;
def GatherShape      : ShapeRule<"Gather", "shapes: the result has the index's.">;
def ScatterShape     : ShapeRule<"Scatter", "shapes: the result has the input's; the index is no larger than the source.">;
def SearchShape      : ShapeRule<"Search", "shapes: the result has that of the values looked for. It is int64.">;
def ConvShape        : ShapeRule<"Conv", "shapes: (N, C, *) with (M, C / groups, *kernel) gives (N, M, *out), out = (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1 rounded down.">;
def PoolShape        : ShapeRule<"Pool", "shapes: (N, C, *) gives (N, C, *out), out = (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1 rounded down, or up with ceil_mode.">;
def AttentionShape   : ShapeRule<"Attention", "shapes: queries (*, l, e), keys (*, s, e), values (*, s, v) give (*, l, v).">;

def NormShape        : ShapeRule<"Norm", "shapes: the result has the input's.">;

class Family<string n> { string cppName = n; }
foreach n = ["Elementwise", "Cast", "Reduction", "Contraction", "View", "Indexing", "Creation", "Random", "Fused",
             "Library", "Pooling"] in
  def n#"Family" : Family<n>;

// One spelling of PyTorch's API. `schema` is `name(Type arg=default, *, Type kw=default) -> Type` with types Tensor,
// Tensor?, Operand (tensor or number), Scalar, Scalar?, int, int?, float, float?, bool, int[], int[]?, DType?,
// Device?, str, str?, Tensor[], Generator?; `Tensor[] *tensors` takes all positional arguments; a result
// `(Tensor values, Tensor indices)` is a named tuple, `(Tensor, Tensor)` a plain one, `Tensor|Tensor[]` either. `kinds`:
// function, method, inplace, out, private (a function with a leading underscore in Python); with outCopy or inplaceCopy
// `impl` knows no targets and its result is copied into them; outSame wants targets of its dtype; castLow, castSingle and
// castWidest are what it does under autocast (frontends/eager/Autocast.h). `impl` "" means: call the op with the arguments of the same
// names in order; else the C++ function (frontends/eager/composite) that does it.
class Api<string s, list<string> k = ["function", "method"], string cpp = ""> {
  string schema = s;
  list<string> kinds = k;
  string impl = cpp;
}

class OpSpec {
  Family family = ElementwiseFamily;
  list<Api> api = [];
  Promote promote = NoPromotion;
  ShapeRule shape = BroadcastShape;

  // Scalar bodies per class of compute type; `scalar` serves every class that has none of its own.
  list<dag> scalar = [];
  list<dag> scalarF32 = [];
  list<dag> scalarF64 = [];
  list<dag> scalarInt = [];
  list<dag> scalarBool = [];

  list<dag> vjp = [];         // one dag per operand
  string vjpFn = "";          // or a template of rules/Vjp.h ...
  list<string> vjpSaves = []; // ... and the operands, or "result", it reads

  string complex = "";        // the template of rules/Complex.h that says what the op is for complex operands
  string decompose = "";      // Fused ops: the template of rules/Decompose.h that defines them
  string gradName = "";       // what `grad_fn` is called after, where PyTorch has another name
  list<string> onnx = [];     // "Tanh since 13": a rename in both directions; else onnx/Special
  list<string> flags = [];    // view, random, mayRaise, variadic, accumulates, rowMajor, wideInt, conjugates,
                              // unsigned, float8, byRows
}

class Torchc_Op<string mnemonic, list<Trait> traits = []>
    : Op<Torchc_Dialect, mnemonic, !listconcat([Pure, TorchcOpTrait], traits)>, OpSpec {
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

class ElementwiseUnary<string mnemonic> : Torchc_Op<mnemonic> {
  let arguments = (ins AnyRankedTensor:$x);
  let promote = CommonType;
}
// Integers and bool are computed in the default float type.
class ElementwiseUnaryFloat<string mnemonic> : ElementwiseUnary<mnemonic> {
  let promote = CommonFloat;
}
class ElementwiseBinary<string mnemonic> : Torchc_Op<mnemonic> {
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y);
  let promote = CommonType;
}
class Comparison<string mnemonic> : ElementwiseBinary<mnemonic> {
  let promote = ComparedType;
  let api = [Api<mnemonic # "(Tensor input, Operand other) -> Tensor", ["function", "method", "inplace", "out"]>];
}
class Reduction<string mnemonic> : Torchc_Op<mnemonic> {
  let family = ReductionFamily;
  let arguments = (ins AnyRankedTensor:$x, DenseI64ArrayAttr:$dims, BoolAttr:$keepdim);
  let shape = ReduceShape;
}
class View<string mnemonic, dag attrs> : Torchc_Op<mnemonic> {
  let family = ViewFamily;
  let arguments = !con((ins AnyRankedTensor:$x), attrs);
  let flags = ["view"];
}

// A function over the eager API (frontends/eager/composite): no op of its own, only API and documentation.
class Composite<string text, list<Api> a> {
  string summary = text;
  list<Api> api = a;
}

#endif
