"""The order in which factors are multiplied, and its cost."""

from .costs import (
    Contraction as Contraction,
    Path as Path,
    Sizes as Sizes,
    Terms as Terms,
    combination_cost as combination_cost,
    contraction_steps as contraction_steps,
    nominal_length as nominal_length,
    nominal_size as nominal_size,
    path_cost as path_cost,
)
from .factors import Factor as Factor, KnownProducts as KnownProducts
from .orders import best_order as best_order, replace_product as replace_product
from .parts import (
    RepeatedProduct as RepeatedProduct,
    SymmetricProduct as SymmetricProduct,
    WeightedGram as WeightedGram,
    factor_to_scale as factor_to_scale,
    multiplied_first as multiplied_first,
)
from .search import (
    Optimizer as Optimizer,
    check_optimizer as check_optimizer,
    contraction_cost as contraction_cost,
    contraction_path as contraction_path,
    path_determining_symbols as path_determining_symbols,
    path_is_near_optimal as path_is_near_optimal,
)
