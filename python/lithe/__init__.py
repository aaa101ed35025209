"""Lithe: a differentiable physics engine for articulated rigid bodies with hard contact.

    import lithe

    scene = lithe.scene("half_cheetah")
    record = lithe.step(scene.model, scene.q, scene.v, options=scene.time_step)
    jacobians = lithe.step_jacobians(scene.model, record)

help(lithe.step) says what a step takes and gives. lithe.view(world) shows one in the browser; lithe.batch has many worlds at once; lithe.torch (autograd) and lithe.gym (Gymnasium) are imported on their own.
"""

from lithe import _level as _level  # before the library: it may ask for another level of it
from lithe._lithe import *  # noqa: F403
from lithe._lithe import version as __version__
from lithe import batch as batch
from lithe.world import World as World
from lithe._view import View as View
from lithe._view import view as view
