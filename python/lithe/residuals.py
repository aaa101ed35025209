"""What a problem's costs and constraints are made of: see Problem.add_cost() and add_constraint()."""

from lithe._lithe.residuals import *  # noqa: F403
