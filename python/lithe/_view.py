"""A world in the browser: view() serves it on this machine, for a tab or for a cell of a notebook."""

from __future__ import annotations

import html
import os
import time
import webbrowser
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lithe._lithe import Error, LiveView
from lithe.world import GroundLike, Source, World

Floats: TypeAlias = NDArray[np.float64]


def _read_page(given: str | os.PathLike[str] | None) -> str:
    """The viewer's page: the given one, else $LITHE_VIEWER, else the package's own, else the one of a build."""
    named = given if given is not None else os.environ.get("LITHE_VIEWER")
    places = [Path(named)] if named else [Path(__file__).with_name("viewer.html"), Path("viewer/dist/viewer.html")]
    for place in places:
        if place.is_file():
            return place.read_text(encoding="utf-8")
    raise Error(
        f"the viewer's page is not there: {' or '.join(str(place) for place in places)}; `make viewer` builds it in "
        "Lithe's source tree, and viewer= or LITHE_VIEWER can name it"
    )


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class View:
    """A world in browsers of this machine, as view() makes it. In a notebook, it shows itself in its cell.

    The browsers' world is a copy: it starts where `world` is, and whoever looks can let it run, reset and push it, and
    change its controls and parameters, without any effect on `world`. update() shows them where `world` is now; take()
    moves `world` to where they have brought theirs.

    It lives until it is closed, or no longer referred to. As a context manager it closes at the end.
    """

    def __init__(self, world: World, live: LiveView, height: int) -> None:
        self._world = world
        self._live = live
        self._height = height

    @property
    def world(self) -> World:
        """What update() shows."""
        return self._world

    @property
    def address(self) -> str:
        """What to open in a browser of this machine. Who knows it may look and push, so it is better not passed on."""
        return self._live.address

    @property
    def clients(self) -> int:
        """How many browsers look."""
        return self._live.clients

    @property
    def closed(self) -> bool:
        """Whether it has ended."""
        return self._live.closed

    @property
    def q(self) -> Floats:
        """The configuration (nq,) that browsers see."""
        return self._live.now()[0]

    @property
    def v(self) -> Floats:
        """The velocity (nv,) that browsers see."""
        return self._live.now()[1]

    @property
    def time(self) -> float:
        """The time that browsers see, s."""
        return self._live.now()[2]

    def update(self) -> None:
        """Shows the state that `world` is in. What runs in the browsers pauses.

        >>> with lithe.view(world) as view:
        ...     for _ in range(1000):
        ...         world.step()
        ...         view.update()
        """
        self._live.show(self._world.q, self._world.v, self._world.time)

    def take(self) -> None:
        """Moves `world` to the state and the time that browsers see."""
        q, v, now = self._live.now()
        self._world.set_state(q, v)
        self._world.time = now

    def play(self) -> None:
        """Lets it run, as the button in the browser does."""
        self._live.play()

    def pause(self) -> None:
        """Stops it."""
        self._live.pause()

    def wait(self) -> None:
        """Returns when it is closed, or when Ctrl-C is pressed: for the end of a script."""
        try:
            while not self.closed:
                time.sleep(0.1)
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Lets the browsers go. A second time it does nothing."""
        self._live.close()

    def __enter__(self) -> View:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        if self.closed:
            return "<p>This view is closed.</p>"
        address = html.escape(self.address, quote=True)
        return (
            f'<iframe src="{address}" title="Lithe: {html.escape(self._name, quote=True)}" width="100%" '
            f'height="{self._height}" style="border: 0" allow="fullscreen"></iframe>'
        )

    @property
    def _name(self) -> str:
        return self._world._name

    def __repr__(self) -> str:
        return f"<View of '{self._name}': {'closed' if self.closed else self.address}>"


def view(
    source: World | Source,
    *,
    interactive: bool = True,
    paused: bool = True,
    port: int = 0,
    token: str = "",
    open_browser: bool = False,
    height: int = 520,
    viewer: str | os.PathLike[str] | None = None,
    ground: GroundLike = None,
    keyframe: str | None = None,
    **load_options: Any,
) -> View:
    """Shows a world in the browser, live, on 127.0.0.1 alone.

    >>> world = lithe.World("catapult")
    >>> view = lithe.view(world)    # in a notebook: the cell shows it
    lithe: open http://127.0.0.1:40123/?token=…

    source         a World, or what World() takes
    interactive    browsers can play, reset, push and change numbers; else they see what View.update() shows
    paused         wait for Play; else it plays when the first browser is there
    port, token    of the address; by default any that is free, and a random one
    open_browser   open a tab, too
    height         of a notebook's cell, pixels
    viewer         the viewer's page; by default the one that came with the package
    ground, keyframe, load_options   as in World(), unless `source` is one: lithe.view('robot.urdf', ground=True)
    """
    page = _read_page(viewer)
    if isinstance(source, World):
        given = [name for name, value in (("ground", ground), ("keyframe", keyframe)) if value is not None]
        for name in [*given, *load_options]:
            raise TypeError(f"{name}: the World is made already; give it to World() instead")
        world = source
    else:
        world = World(source, ground=ground, keyframe=keyframe, **load_options)
    live = LiveView(
        world.model,
        world.q,
        world.v,
        page,
        name=world._name,
        options=world.options,
        targets=world.targets,
        visuals=world._visuals,
        excepted_pairs=world._excepted_pairs,
        task=world._task,
        interactive=interactive,
        paused=paused,
        port=port,
        token=token,
    )
    if world.time != 0:
        live.show(world.q, world.v, world.time)
    if not _in_notebook():
        print(f"lithe: open {live.address}", flush=True)
    if open_browser:
        webbrowser.open(live.address)
    return View(world, live, height)
