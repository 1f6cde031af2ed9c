"""Public functions that build expressions from tensors and scalars."""

from .arithmetic import (
    add as add,
    divide as divide,
    multiply as multiply,
    power as power,
    subtract as subtract,
)
from .axes import (
    Axes as Axes,
    as_axes as as_axes,
    as_axis as as_axis,
    broadcast_to as broadcast_to,
    expand_dims as expand_dims,
    filled as filled,
    moveaxis as moveaxis,
    ravel as ravel,
    reshape as reshape,
    squeeze as squeeze,
    swapaxes as swapaxes,
    transpose as transpose,
)
from .batches import batch as batch
from .complex_tensors import (
    ComplexLike as ComplexLike,
    ComplexTensor as ComplexTensor,
    as_complex as as_complex,
)
from .conditions import (
    all_ as all_,
    any_ as any_,
    choose as choose,
    compare as compare,
    count_nonzero as count_nonzero,
    logical as logical,
    where as where,
)
from .decompositions import (
    EighResult as EighResult,
    QRResult as QRResult,
    SlogdetResult as SlogdetResult,
    SVDResult as SVDResult,
    cholesky as cholesky,
    eigh as eigh,
    eigvalsh as eigvalsh,
    pinv as pinv,
    qr as qr,
    slogdet as slogdet,
    svd as svd,
    svdvals as svdvals,
)
from .diagonals import (
    diag as diag,
    diagflat as diagflat,
    diagonal as diagonal,
    eye as eye,
    trace as trace,
)
from .differences import diff as diff, gradient as gradient
from .fourier import (
    fft as fft,
    fftfreq as fftfreq,
    fftn as fftn,
    fftshift as fftshift,
    hfft as hfft,
    ifft as ifft,
    ifftn as ifftn,
    ifftshift as ifftshift,
    ihfft as ihfft,
    irfft as irfft,
    irfftn as irfftn,
    rfft as rfft,
    rfftfreq as rfftfreq,
    rfftn as rfftn,
)
from .gathering import one_hot as one_hot, take as take, take_along_axis as take_along_axis
from .indexing import Index as Index, getitem as getitem
from .joining import concatenate as concatenate, stack as stack, unstack as unstack
from .linear_systems import (
    LstsqResult as LstsqResult,
    lstsq as lstsq,
    solve as solve,
    tensorinv as tensorinv,
    tensorsolve as tensorsolve,
)
from .norms import Order as Order, cond as cond, norm as norm, vector_norm as vector_norm
from .numbers import (
    angle as angle,
    around as around,
    as_real as as_real,
    clip as clip,
    complex_modulus as complex_modulus,
    conj as conj,
    imag as imag,
    isclose as isclose,
    real as real,
    squared as squared,
)
from .orders import (
    argcummax as argcummax,
    argcummin as argcummin,
    argmax as argmax,
    argmin as argmin,
    argsort as argsort,
    cummax as cummax,
    cummin as cummin,
    extremum_or as extremum_or,
    max as max,
    max_share as max_share,
    min as min,
    min_share as min_share,
    ptp as ptp,
    sort as sort,
)
from .padding import pad as pad
from .pieces import (
    Nested as Nested,
    array_split as array_split,
    block as block,
    flip as flip,
    repeat as repeat,
    roll as roll,
    split as split,
    tile as tile,
)
from .products import (
    cross as cross,
    dot as dot,
    einsum as einsum,
    inner as inner,
    kron as kron,
    matmul as matmul,
    outer as outer,
    tensordot as tensordot,
    to_kronecker as to_kronecker,
    vdot as vdot,
    vec as vec,
)
from .quantiles import (
    median as median,
    nanquantile as nanquantile,
    over_100 as over_100,
    percentile as percentile,
    quantile as quantile,
)
from .reductions import (
    logsumexp as logsumexp,
    mean as mean,
    prod as prod,
    softmax as softmax,
    std as std,
    sum as sum,
    var as var,
)
from .running import (
    counting as counting,
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_sum as cumulative_sum,
    interval_products as interval_products,
    logcumsumexp as logcumsumexp,
    running_axis as running_axis,
    running_softmax as running_softmax,
    tri as tri,
    tril as tril,
    triu as triu,
)
from .scalar_functions import (
    FUNCTIONS as FUNCTIONS,
    SHAPES as SHAPES,
    Docstring as Docstring,
    ScalarFunction as ScalarFunction,
    about as about,
    example as example,
    paragraphs as paragraphs,
)
from .scans import (
    Structure as Structure,
    calling as calling,
    flatten_structure as flatten_structure,
    scan as scan,
    unroll as unroll,
)
from .sliding import (
    conv as conv,
    convolve as convolve,
    correlate as correlate,
    sliding_window_view as sliding_window_view,
    windows as windows,
)
from .theorems import (
    THEOREMS as THEOREMS,
    add_ones as add_ones,
    commute as commute,
    denest as denest,
    merge_deltas as merge_deltas,
    nest as nest,
    product_at as product_at,
    remove_ones as remove_ones,
    split_deltas as split_deltas,
    substitute_deltas as substitute_deltas,
    vectorize_constants as vectorize_constants,
)
from .written_forms import (
    IndexString as IndexString,
    Written as Written,
    WrittenProduct as WrittenProduct,
    WrittenSum as WrittenSum,
    fold as fold,
    written as written,
)
