"""Errors, graph walks, lengths, indices, contraction order, scalar functions: nothing that needs
nodes."""

from . import scalar_table as scalar_table, tuning as tuning
from .activations import (
    logaddexp as logaddexp,
    masked as masked,
    relu as relu,
    sigmoid as sigmoid,
    sigmoid_derivative as sigmoid_derivative,
    softplus as softplus,
    step as step,
)
from .bessel_functions import powbesselk as powbesselk
from .caching import LIVE as LIVE, cached as cached, register_cache_clear as register_cache_clear
from .collector import collector_paused as collector_paused
from .deadlines import with_time_limit as with_time_limit
from .derivatives import (
    derivative as derivative,
    has_choice as has_choice,
    is_choice as is_choice,
    may_be_infinite as may_be_infinite,
    with_function as with_function,
)
from .entropies import (
    exprel as exprel,
    power_derivative as power_derivative,
    powlog as powlog,
    xlogy as xlogy,
)
from .errors import (
    NoScalarError as NoScalarError,
    ParseError as ParseError,
    ShapeError as ShapeError,
    TensorError as TensorError,
    UnsupportedError as UnsupportedError,
    documentation_link as documentation_link,
)
from .exact_powers import (
    FLOAT_DIGITS as FLOAT_DIGITS,
    MAX_NUMBER as MAX_NUMBER,
    check_size as check_size,
    exact_power as exact_power,
    fold_constants as fold_constants,
    integer_text as integer_text,
    is_long as is_long,
    number_bits as number_bits,
    unmultiplied_number as unmultiplied_number,
)
from .gamma_functions import gamma_rise as gamma_rise
from .indices import (
    LETTERS as LETTERS,
    EllipsisAxis as EllipsisAxis,
    Indices as Indices,
    index_letter as index_letter,
    parse_subscripts as parse_subscripts,
    resolve_labels as resolve_labels,
)
from .labelled_graphs import LabelledGraph as LabelledGraph
from .lazy import (
    DeferredClasses as DeferredClasses,
    DeferredModule as DeferredModule,
    DeferredTable as DeferredTable,
    deferred as deferred,
    once as once,
)
from .lengths import (
    Label as Label,
    Labels as Labels,
    Length as Length,
    Lengths as Lengths,
    Shape as Shape,
    as_flag as as_flag,
    as_length as as_length,
    as_list as as_list,
    as_position as as_position,
    as_scalar as as_scalar,
    as_shape as as_shape,
    floats_to_integers as floats_to_integers,
    has_shape as has_shape,
    same_length as same_length,
    same_name_hint as same_name_hint,
    same_shape as same_shape,
    sympified as sympified,
)
from .matrix_networks import (
    HADAMARD_FIRST as HADAMARD_FIRST,
    PRODUCTS_FIRST as PRODUCTS_FIRST,
    WITHOUT_ENTRYWISE_PRODUCTS as WITHOUT_ENTRYWISE_PRODUCTS,
    Network as Network,
)
from .ordering import (
    data_digest as data_digest,
    digest as digest,
    sort_key as sort_key,
    text_digest as text_digest,
)
from .other_names import (
    FUNCTIONS_ELSEWHERE as FUNCTIONS_ELSEWHERE,
    METHODS_ELSEWHERE as METHODS_ELSEWHERE,
    hint as hint,
    with_hints as with_hints,
)
from .passes import NODE_TABLES as NODE_TABLES, NodeTable as NodeTable
from .removable import bose as bose, sinhc as sinhc
from .rounding import (
    floor_divide as floor_divide,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    nan_to_num as nan_to_num,
    rint as rint,
    trunc as trunc,
    unless_nan as unless_nan,
)
from .rows import (
    ROWS as ROWS,
    Row as Row,
    add_row as add_row,
    code_of as code_of,
    fill_template as fill_template,
    for_each_row as for_each_row,
    row_of as row_of,
)
from .scipy_parts import (
    lapack as lapack,
    optimize as optimize,
    sparse as sparse,
    sparse_algebra as sparse_algebra,
    sparse_graphs as sparse_graphs,
)
from .special_functions import (
    erfcx as erfcx,
    erfcx_rate as erfcx_rate,
    gammaln as gammaln,
    log_ndtr_difference as log_ndtr_difference,
    modulus as modulus,
    ndtr as ndtr,
    ndtr_share as ndtr_share,
)
from .stable_forms import (
    DERIVATIVE_NAMES as DERIVATIVE_NAMES,
    NUMERIC_NAMES as NUMERIC_NAMES,
    REFLECTED_NAMES as REFLECTED_NAMES,
    STABLE_ARGUMENT as STABLE_ARGUMENT,
    STABLE_NAMES as STABLE_NAMES,
    Use as Use,
    exponents_of as exponents_of,
    has_stable_code as has_stable_code,
    small_difference as small_difference,
)
from .stock_types import StockAtom as StockAtom, StockExpr as StockExpr
from .traversal import (
    children as children,
    has_more_nodes as has_more_nodes,
    postorder as postorder,
    transform as transform,
)
from .undefined_functions import (
    as_stock_derivative as as_stock_derivative,
    named_derivatives as named_derivatives,
    origin_of as origin_of,
    with_stock_derivatives as with_stock_derivatives,
)
from .user_functions import UserFunction as UserFunction, function as function
from .whole_functions import WholeFunction as WholeFunction
