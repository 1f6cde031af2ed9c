"""The scalar functions, made from their rows by tests/stubs.py."""

from .scalar_functions import ScalarFunction

Abs: ScalarFunction
Chi: ScalarFunction
Ci: ScalarFunction
Ei: ScalarFunction
Heaviside: ScalarFunction
LambertW: ScalarFunction
Max: ScalarFunction
Min: ScalarFunction
Mod: ScalarFunction
Shi: ScalarFunction
Si: ScalarFunction
acos: ScalarFunction
acosh: ScalarFunction
acot: ScalarFunction
acoth: ScalarFunction
airyai: ScalarFunction
airybi: ScalarFunction
asin: ScalarFunction
asinh: ScalarFunction
atan: ScalarFunction
atan2: ScalarFunction
atanh: ScalarFunction
besseli: ScalarFunction
besselj: ScalarFunction
besselk: ScalarFunction
bessely: ScalarFunction
beta: ScalarFunction
betaln: ScalarFunction
binomial: ScalarFunction
bose: ScalarFunction
cbrt: ScalarFunction
ceiling: ScalarFunction
conjugate: ScalarFunction
copysign: ScalarFunction
cos: ScalarFunction
cosh: ScalarFunction
cot: ScalarFunction
coth: ScalarFunction
csc: ScalarFunction
csch: ScalarFunction
digamma: ScalarFunction
elu: ScalarFunction
entr: ScalarFunction
erf: ScalarFunction
erfc: ScalarFunction
erfcinv: ScalarFunction
erfcx: ScalarFunction
erfcx_rate: ScalarFunction
erfi: ScalarFunction
erfinv: ScalarFunction
exp: ScalarFunction
expint: ScalarFunction
exprel: ScalarFunction
factorial: ScalarFunction
floor: ScalarFunction
floor_divide: ScalarFunction
fmax: ScalarFunction
fmin: ScalarFunction
fmod: ScalarFunction
fresnelc: ScalarFunction
fresnels: ScalarFunction
gamma: ScalarFunction
gamma_rise: ScalarFunction
gammaln: ScalarFunction
gelu: ScalarFunction
gelu_tanh: ScalarFunction
hard_tanh: ScalarFunction
im: ScalarFunction
isfinite: ScalarFunction
isinf: ScalarFunction
isnan: ScalarFunction
ive: ScalarFunction
kve: ScalarFunction
langevin: ScalarFunction
leaky_relu: ScalarFunction
log: ScalarFunction
log_ndtr: ScalarFunction
log_ndtr_difference: ScalarFunction
log_sigmoid: ScalarFunction
log_sinhc: ScalarFunction
logaddexp: ScalarFunction
loggamma: ScalarFunction
masked: ScalarFunction
mish: ScalarFunction
modulus: ScalarFunction
nan_to_num: ScalarFunction
ndtr: ScalarFunction
ndtr_share: ScalarFunction
ndtri: ScalarFunction
polygamma: ScalarFunction
powbesselk: ScalarFunction
powlog: ScalarFunction
re: ScalarFunction
real_cbrt: ScalarFunction
rel_entr: ScalarFunction
relu: ScalarFunction
rint: ScalarFunction
sec: ScalarFunction
sech: ScalarFunction
selu: ScalarFunction
sigmoid: ScalarFunction
sign: ScalarFunction
silu: ScalarFunction
sin: ScalarFunction
sinc: ScalarFunction
sinh: ScalarFunction
sinhc: ScalarFunction
softplus: ScalarFunction
spherical_in: ScalarFunction
sqrt: ScalarFunction
step: ScalarFunction
stop_gradient: ScalarFunction
tan: ScalarFunction
tanh: ScalarFunction
tanhc: ScalarFunction
trigamma: ScalarFunction
trunc: ScalarFunction
unless_nan: ScalarFunction
xlog1py: ScalarFunction
xlogy: ScalarFunction
zeta: ScalarFunction
__all__ = [
    "Abs",
    "Chi",
    "Ci",
    "Ei",
    "Heaviside",
    "LambertW",
    "Max",
    "Min",
    "Mod",
    "Shi",
    "Si",
    "acos",
    "acosh",
    "acot",
    "acoth",
    "airyai",
    "airybi",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "besseli",
    "besselj",
    "besselk",
    "bessely",
    "beta",
    "betaln",
    "binomial",
    "bose",
    "cbrt",
    "ceiling",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "cot",
    "coth",
    "csc",
    "csch",
    "digamma",
    "elu",
    "entr",
    "erf",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfcx_rate",
    "erfi",
    "erfinv",
    "exp",
    "expint",
    "exprel",
    "factorial",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "fresnelc",
    "fresnels",
    "gamma",
    "gamma_rise",
    "gammaln",
    "gelu",
    "gelu_tanh",
    "hard_tanh",
    "im",
    "isfinite",
    "isinf",
    "isnan",
    "ive",
    "kve",
    "langevin",
    "leaky_relu",
    "log",
    "log_ndtr",
    "log_ndtr_difference",
    "log_sigmoid",
    "log_sinhc",
    "logaddexp",
    "loggamma",
    "masked",
    "mish",
    "modulus",
    "nan_to_num",
    "ndtr",
    "ndtr_share",
    "ndtri",
    "polygamma",
    "powbesselk",
    "powlog",
    "re",
    "real_cbrt",
    "rel_entr",
    "relu",
    "rint",
    "sec",
    "sech",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sinc",
    "sinh",
    "sinhc",
    "softplus",
    "spherical_in",
    "sqrt",
    "step",
    "stop_gradient",
    "tan",
    "tanh",
    "tanhc",
    "trigamma",
    "trunc",
    "unless_nan",
    "xlog1py",
    "xlogy",
    "zeta",
]
