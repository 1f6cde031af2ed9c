"""The names of NumPy's functions that are made from tables, as editors and type checkers see them;
a test holds this file against the tables."""

from collections.abc import Callable as _Callable

from ..expressions import Operand as _Operand
from ._entrywise import Ufunc as _Ufunc

_Function = _Callable[..., _Operand]

abs: _Ufunc
absolute: _Ufunc
acos: _Ufunc
acosh: _Ufunc
arccos: _Ufunc
arccosh: _Ufunc
arcsin: _Ufunc
arcsinh: _Ufunc
arctan: _Ufunc
arctan2: _Ufunc
arctanh: _Ufunc
asin: _Ufunc
asinh: _Ufunc
atan: _Ufunc
atan2: _Ufunc
atanh: _Ufunc
bartlett: _Function
bitwise_and: _Function
bitwise_invert: _Function
bitwise_not: _Function
bitwise_or: _Function
bitwise_xor: _Function
blackman: _Function
cbrt: _Ufunc
ceil: _Ufunc
conj: _Ufunc
conjugate: _Ufunc
copysign: _Ufunc
cos: _Ufunc
cosh: _Ufunc
deg2rad: _Ufunc
degrees: _Ufunc
equal: _Function
exp: _Ufunc
exp2: _Ufunc
expm1: _Ufunc
fabs: _Ufunc
fix: _Ufunc
floor: _Ufunc
floor_divide: _Ufunc
fmax: _Ufunc
fmin: _Ufunc
fmod: _Ufunc
geomspace: _Function
greater: _Function
greater_equal: _Function
hamming: _Function
hanning: _Function
heaviside: _Ufunc
hypot: _Ufunc
i0: _Ufunc
invert: _Function
isfinite: _Ufunc
isinf: _Ufunc
isnan: _Ufunc
isneginf: _Ufunc
isposinf: _Ufunc
kaiser: _Function
ldexp: _Ufunc
less: _Function
less_equal: _Function
log: _Ufunc
log10: _Ufunc
log1p: _Ufunc
log2: _Ufunc
logaddexp: _Ufunc
logaddexp2: _Ufunc
logical_and: _Function
logical_not: _Function
logical_or: _Function
logical_xor: _Function
maximum: _Ufunc
minimum: _Ufunc
mod: _Ufunc
not_equal: _Function
rad2deg: _Ufunc
radians: _Ufunc
reciprocal: _Ufunc
remainder: _Ufunc
rint: _Ufunc
sign: _Ufunc
signbit: _Ufunc
sin: _Ufunc
sinc: _Ufunc
sinh: _Ufunc
sqrt: _Ufunc
square: _Ufunc
tan: _Ufunc
tanh: _Ufunc
trunc: _Ufunc
