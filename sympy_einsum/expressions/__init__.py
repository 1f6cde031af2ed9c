"""The nodes of expression graphs: the base class, leaves, products and sums, functions."""

from .affine_selectors import (
    Positions as Positions,
    Selection as Selection,
    Unit as Unit,
    is_window as is_window,
)
from .axis_functions import (
    AxesFunction as AxesFunction,
    LogSumExp as LogSumExp,
    Softmax as Softmax,
    softmax_inside_log as softmax_inside_log,
)
from .base import (
    Operand as Operand,
    Several as Several,
    TensorExpr as TensorExpr,
    TensorLike as TensorLike,
)
from .batching import over_batch as over_batch
from .broadcasting import broadcast_together as broadcast_together, stretch as stretch
from .complex_entries import (
    OF_COMPLEX as OF_COMPLEX,
    conjugated as conjugated,
    holds_complex as holds_complex,
    of_real_constants as of_real_constants,
)
from .conversion import (
    STOCK_TENSORS as STOCK_TENSORS,
    STOCK_VARIABLES as STOCK_VARIABLES,
    as_operand as as_operand,
    elementwise as elementwise,
    holds_tensor as holds_tensor,
    split_body as split_body,
    sums_entries as sums_entries,
)
from .entrywise import (
    Elementwise as Elementwise,
    apply_body as apply_body,
    fill_value as fill_value,
    works_entrywise as works_entrywise,
)
from .fourier import Fourier as Fourier, are_inverse as are_inverse, half_length as half_length
from .gathers import OneHot as OneHot
from .graphs import (
    are_numeric as are_numeric,
    declares_free_symbols as declares_free_symbols,
    flatten as flatten,
    free_leaves as free_leaves,
    free_symbols_of as free_symbols_of,
    is_literal as is_literal,
    is_noncommutative as is_noncommutative,
    is_tensor as is_tensor,
    is_variable as is_variable,
    kinds_in as kinds_in,
    lengths_of as lengths_of,
    order_of as order_of,
    outermost as outermost,
    shape_of as shape_of,
    stock_children as stock_children,
    unflatten as unflatten,
    written_size as written_size,
)
from .half_powers import (
    HalfPower as HalfPower,
    as_half_power as as_half_power,
    is_half_power as is_half_power,
)
from .interning import (
    Node as Node,
    Operands as Operands,
    data_expressions as data_expressions,
    memoised as memoised,
)
from .labels import (
    inline_products as inline_products,
    representative as representative,
    unite as unite,
)
from .leaves import (
    ASSUMPTIONS as ASSUMPTIONS,
    SYMMETRIC as SYMMETRIC,
    Constant as Constant,
    TensorSymbol as TensorSymbol,
    Zeros as Zeros,
    tensors as tensors,
)
from .levi_civita import LeviCivita as LeviCivita, alternating as alternating, parity as parity
from .loop_fusion import fuse_loops as fuse_loops
from .matrix_base import MatrixFunction as MatrixFunction
from .matrix_functions import (
    Adj as Adj,
    Cofactors as Cofactors,
    Det as Det,
    Inv as Inv,
    LogDet as LogDet,
    adj as adj,
    cofactors as cofactors,
    det as det,
    determinants_in as determinants_in,
    inv as inv,
    logdet as logdet,
)
from .matrix_powers import MatrixPower as MatrixPower, matrix_power as matrix_power
from .matrix_stacks import (
    AdjStack as AdjStack,
    Cholesky as Cholesky,
    CofactorStack as CofactorStack,
    DeterminantDerivative as DeterminantDerivative,
    DetSigns as DetSigns,
    DetStack as DetStack,
    DirectionalFunction as DirectionalFunction,
    EigenValues as EigenValues,
    EigenVectors as EigenVectors,
    Expm as Expm,
    InvStack as InvStack,
    LeftVectors as LeftVectors,
    LogDetStack as LogDetStack,
    PseudoInverse as PseudoInverse,
    QFactor as QFactor,
    RFactor as RFactor,
    RightVectors as RightVectors,
    SingularValues as SingularValues,
    StackFunction as StackFunction,
    expm as expm,
    min_length as min_length,
    square_matrices as square_matrices,
    stacked_matrices as stacked_matrices,
)
from .merging import are_disjoint as are_disjoint
from .order_statistics import (
    Extremum as Extremum,
    ExtremumShare as ExtremumShare,
    NamedAxesFunction as NamedAxesFunction,
    Picked as Picked,
    Ranking as Ranking,
)
from .products import (
    Delta as Delta,
    Einsum as Einsum,
    Ones as Ones,
    View as View,
    contract as contract,
    contract_part as contract_part,
    is_padded_product as is_padded_product,
    is_selector_product as is_selector_product,
    is_slice as is_slice,
    scalar_product as scalar_product,
)
from .reshaping import Reshape as Reshape, reshape_node as reshape_node
from .running import (
    RUNNING as RUNNING,
    IntervalProducts as IntervalProducts,
    LogCumSumExp as LogCumSumExp,
    RunningFunction as RunningFunction,
    RunningSoftmax as RunningSoftmax,
)
from .scalar_lambdas import (
    EXP as EXP,
    LOG as LOG,
    SIGMOID as SIGMOID,
    Slot as Slot,
    as_number as as_number,
    indicator_condition as indicator_condition,
    is_condition as is_condition,
    rename_slots as rename_slots,
    slot as slot,
    slot_numbers as slot_numbers,
    substitute_slots as substitute_slots,
    substitute_stock as substitute_stock,
)
from .scans import (
    LAST as LAST,
    VALUES as VALUES,
    Binder as Binder,
    BoundTensor as BoundTensor,
    Carry as Carry,
    Recurrence as Recurrence,
    Scan as Scan,
    ScanInput as ScanInput,
    StepIndex as StepIndex,
    closed_loop as closed_loop,
    depending as depending,
    entry_at as entry_at,
    level_of_body as level_of_body,
    loop_of as loop_of,
    repeated as repeated,
    step_index as step_index,
)
from .solutions import Solution as Solution, solution_of as solution_of
from .substitution import (
    as_basic as as_basic,
    rebuild as rebuild,
    replace_nodes as replace_nodes,
    substitute as substitute,
    substitute_all as substitute_all,
    substitute_function as substitute_function,
)
from .sums import (
    TensorAdd as TensorAdd,
    drop_constant_axes as drop_constant_axes,
    has_large_factor as has_large_factor,
    scale as scale,
    split_coefficient as split_coefficient,
    sum_of_multiples as sum_of_multiples,
    tensor_sum as tensor_sum,
    total_of as total_of,
    varying_axes as varying_axes,
)
from .triangles import Triangle as Triangle
from .unevaluated import (
    STOCK_OPERATORS as STOCK_OPERATORS,
    UNEVALUATED_REMEDY as UNEVALUATED_REMEDY,
    BoundScalar as BoundScalar,
    Unevaluated as Unevaluated,
    derivative_of as derivative_of,
    evaluated as evaluated,
    over_symbol as over_symbol,
)
from .unknowns import Unknown as Unknown, fill_in as fill_in, unknown as unknown
