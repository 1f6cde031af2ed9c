"""Semirings: their operations, and backends that compute in them."""
