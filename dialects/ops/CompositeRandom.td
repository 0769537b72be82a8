//===- CompositeRandom.td - random numbers of every distribution from uniform ones (N9) ---------------------------===//

#ifndef TORCHC_OPS_COMPOSITERANDOM_TD
#define TORCHC_OPS_COMPOSITERANDOM_TD

include "OpSpec.td"

def : Composite<"uniform random numbers of [0, 1)", [
  Api<"rand(int[] size, *, Generator? generator=None, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "randOf">]>;
def : Composite<"uniform random numbers of [0, 1) in another tensor's shape", [
  Api<"rand_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "randLike">]>;
def : Composite<"filled with uniform random numbers of [from, to)", [
  Api<"uniform(Tensor input, float from=0.0, float to=1.0, *, Generator? generator=None) -> Tensor", inplaceOnly, "uniformInto">]>;

def : Composite<"random integers of [low, high)", [
  Api<"randint(int low, int high, int[] size, *, Generator? generator=None, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "randintBetween">,
  Api<"randint(int high, int[] size, *, Generator? generator=None, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "randintBelow">,
  Api<"randint_like(Tensor input, int low, int high, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "randintLikeBetween">,
  Api<"randint_like(Tensor input, int high, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "randintLikeBelow">]>;
def : Composite<"0 ... n-1 in random order", [
  Api<"randperm(int n, *, Generator? generator=None, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "randPerm">]>;
def : Composite<"filled with random integers: of the type's exact range, of [0, to), of [from, to)", [
  Api<"random(Tensor input, *, Generator? generator=None) -> Tensor", inplaceOnly, "randomAll">,
  Api<"random(Tensor input, int to, *, Generator? generator=None) -> Tensor", inplaceOnly, "randomBelow">,
  Api<"random(Tensor input, int from, int? to, *, Generator? generator=None) -> Tensor", inplaceOnly, "randomFromTo">]>;
def : Composite<"1 with the given probability, else 0", [
  Api<"bernoulli(Tensor input, *, Generator? generator=None) -> Tensor", ["function", "method", "out"], "bernoulliTensor">,
  Api<"bernoulli(Tensor input, Tensor p, *, Generator? generator=None) -> Tensor", inplaceOnly, "bernoulliGiven">,
  Api<"bernoulli(Tensor input, float p=0.5, *, Generator? generator=None) -> Tensor", ["method", "inplace"], "bernoulliNumber">]>;
def : Composite<"filled with exponentially distributed numbers", [
  Api<"exponential(Tensor input, float lambd=1.0, *, Generator? generator=None) -> Tensor", inplaceOnly, "exponentialInto">]>;
def : Composite<"filled with the number of trials until the first success", [
  Api<"geometric(Tensor input, float p, *, Generator? generator=None) -> Tensor", inplaceOnly, "geometricInto">]>;
def : Composite<"places drawn by their weights", [
  Api<"multinomial(Tensor input, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor", ["function", "method", "outSame"], "multinomialRows">]>;

def : Composite<"normally distributed random numbers", [
  Api<"randn(int[] size, *, Generator? generator=None, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "randnOf">,
  Api<"randn_like(Tensor input, *, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", functionOnly, "randnLike">,
  Api<"normal(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor", ["function", "outCopy"], "normalTensors">,
  Api<"normal(Tensor mean, float std=1.0, *, Generator? generator=None) -> Tensor", ["function", "outCopy"], "normalMeans">,
  Api<"normal(float mean, Tensor std, *, Generator? generator=None) -> Tensor", ["function", "outCopy"], "normalDeviations">,
  Api<"normal(float mean, float std, int[] size, *, Generator? generator=None, DType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor", ["function", "outCopy"], "normalSized">,
  Api<"normal(Tensor input, float mean=0.0, float std=1.0, *, Generator? generator=None) -> Tensor", inplaceOnly, "normalInto">]>;
def : Composite<"filled with exp of normal numbers", [
  Api<"log_normal(Tensor input, float mean=1.0, float std=2.0, *, Generator? generator=None) -> Tensor", inplaceOnly, "logNormalInto">]>;
def : Composite<"filled with Cauchy-distributed numbers", [
  Api<"cauchy(Tensor input, float median=0.0, float sigma=1.0, *, Generator? generator=None) -> Tensor", inplaceOnly, "cauchyInto">]>;

#endif
