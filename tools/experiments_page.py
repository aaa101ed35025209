#!/usr/bin/env python3
"""Turns what `lithe experiments` reported into a page of the documentation.

    tools/experiments_page.py [--report out/experiments/report.md] [--page docs/experiments.md]

The page has an introduction, and of each experiment what it is about, then the report's own text, table and figures. The
figures go into a folder beside the page that is called like it; figures there that the report does not show are removed.
A report of the short version (--quick) is refused.
"""

import argparse
import re
import shutil
import sys
from pathlib import Path

INTRODUCTION = """\
# Experiments

Trajectory optimisation on the tasks of the paper (Werling et al. 2021, "Fast and Feature-Complete Differentiable Physics for Articulated Rigid
Bodies with Contact"), a jump of a humanoid and identification from noisy motions. Every number in a chapter, every table and every figure is what a
command measured:

```sh
make experiments        # runs them: report, figures and motions in out/experiments
make experiments-page   # the same, and writes this page from the report
```

`build/lithe experiments catapult --seed 7` runs one alone. An experiment that does not show what it should makes the command fail, and its row
says **missed**. The motions lie beside the report as recordings ([recording.md](recording.md)). The solvers are
explained in [optimize.md](optimize.md).

**How races are judged.** Two solvers start from the same plan and minimise the same costs. A solver is "within 1 % of the way" as soon as its
cost has fallen to

    level = best + 1 % of (start − best)

where `start` is the cost of the initial plan and `best` the lower of the two final costs. It is the wall-clock time that counts, everything
included, and both solvers have all threads. A solver that never gets there counts with the time it had, and the factor is then a lower bound.

Seconds depend on the machine and vary from run to run, and so does what a solver has reached after a given time. Costs, motions and iterations
of a solver that stops by itself do not: they have the same bits on any number of threads."""

# What each experiment is about, by its title in the report.
ABOUT = {
    "Cartpole: DDP and stochastic search": """\
Shows what gradients are worth where nothing touches: a pole on a cart is falling over, and shall be upright and at rest in the middle.""",
    "Double cartpole: DDP and stochastic search": """\
The same with two poles that hang from the cart. The motion is chaotic, and samples tell little of where to go.""",
    "Catapult: multiple shooting and stochastic search": """\
Shows optimisation through contact: a box falls onto an arm of three joints, which shall throw it. All that can be done about where the box flies is
done while the two touch.

The paper cuts the motion into shots of 20 steps. Here there are two shots, and the cut comes late. Between shots the states are free numbers: where box
and arm touch at a cut, moved apart by half a millimetre they no longer do, moved together they are pushed apart, and the derivatives hold no further
than that. With shots of 20 steps there are cuts wherever the arm may meet the box, and no throw that hits was found. A cut while the box is in
the air does no harm.""",
    "Jump-Worm: gradients and stochastic search": """\
Shows optimisation through an impact: a worm of four boxes falls on its bent end and pushes itself up. The derivatives are those of the steps as computed.""",
    "Drone: leaving a saddle point": """\
Shows what complementarity-aware gradients are for. The ground carries the drone: a little more thrust changes the ground's force and not the drone's
height, so every derivative is zero, rightly, and no solver that believes them moves.""",
    "Humanoid: a jump from a crouch": """\
Shows a model of the size of a robot, with feet that stick, slide, roll and leave the ground, and what the derivatives take of the time.""",
    "Identification from noisy motions": """\
Shows the other use of the derivatives: the model's numbers are free, and the motion is given. The figure behind ± is one standard deviation, as
estimated from the misfit that is left.

Where nothing touches, the fit comes down to the noise. Where things collide it does not: the block and the ball end in a local minimum next to the
truth. A landing that is simulated a few steps away from the measured one is a difference of the velocities that no small change of the numbers
removes. The numbers themselves show in what happens between the landings; what is left is counted as noise, and makes the ± larger.""",
}

FIGURE = re.compile(r"!\[([^\]]*)\]\(([^)/]+\.svg)\)")
MOTION = re.compile(r"^Motion: .*\n?", re.MULTILINE)


def chapters(report):
    """What stands before the first chapter, without the title, and a list of (title, text)."""
    head, *parts = re.split(r"^## ", report, flags=re.MULTILINE)
    head = re.sub(r"^# .*\n", "", head, count=1).strip()
    return head, [(part.partition("\n")[0].strip(), part.partition("\n")[2].strip()) for part in parts]


def page_of(report, folder):
    """The page, with figures that lie in `folder`."""
    head, parts = chapters(report)
    if not parts:
        raise ValueError("the report has no chapter")
    if ", the short version" in head:
        raise ValueError("the report is that of a short run (--quick); the page shows full runs only")
    blocks = [INTRODUCTION, head]
    for title, text in parts:
        blocks.append(f"## {title}")
        if title in ABOUT:
            blocks.append(ABOUT[title])
        text = FIGURE.sub(lambda m: f"![{m[1]}]({folder}/{m[2]})", MOTION.sub("", text))
        blocks.append(re.sub(r"\n{3,}", "\n\n", text).strip())
    return "\n\n".join(blocks) + "\n"


def copy_figures(report, source, target):
    """Copies the figures that the report shows, and removes those that it does not."""
    names = {match[2] for match in FIGURE.finditer(report)}
    missing = sorted(name for name in names if not (source / name).is_file())
    if missing:
        raise ValueError(f"{source} lacks {', '.join(missing)}")
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.svg"):
        if old.name not in names:
            old.unlink()
    for name in names:
        shutil.copyfile(source / name, target / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=Path, default=Path("out/experiments/report.md"), help="what to read")
    parser.add_argument("--page", type=Path, default=Path("docs/experiments.md"), help="what to write")
    arguments = parser.parse_args()
    try:
        report = arguments.report.read_text(encoding="utf-8")
        page = page_of(report, arguments.page.stem)
        copy_figures(report, arguments.report.parent, arguments.page.parent / arguments.page.stem)
        arguments.page.write_text(page, encoding="utf-8")
    except (OSError, ValueError) as error:
        sys.exit(f"experiments_page: error: {error}")


if __name__ == "__main__":
    main()
