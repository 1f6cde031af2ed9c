"""The table of tuning constants: costs, and bounds on what is searched, written out or remembered.

Costs are counted in multiplications inside a contraction; a bound is a number of what its line
names first.
"""

# --- the search for numerically stable forms ------------------------------------------------------

# Levels of functions of functions that are searched.
STABLE_LEVELS = 4
# Terms of a sum, or factors of a product, that are searched for parts of a form.
STABLE_TERMS = 16
# Levels above the argument of a form.
STABLE_FORM_DEPTH = 5
