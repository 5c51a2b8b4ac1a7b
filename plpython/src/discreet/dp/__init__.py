"""Differential privacy: prices, grids, sensitivities, mechanisms and the estimators built from them."""
