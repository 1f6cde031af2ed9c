"""Functions that generated code calls, which bring their own source along."""
