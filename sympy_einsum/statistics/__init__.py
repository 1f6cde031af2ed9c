"""Moments of expressions in Gaussian variables."""

from .expectations import covariance as covariance, expectation as expectation, variance as variance
from .gaussians import Gaussian as Gaussian
