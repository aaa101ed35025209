#!/usr/bin/env python3
"""Writes the reference of the Python package from its docstrings, as Markdown.

    .venv-python/bin/python tools/api_reference.py [--into docs/api.md] [--check docs/api.md]

With --check nothing is written: the exit code is 1 if the page is not what the package says, or if a public function or class has no text.
"""

import argparse
import importlib
import inspect
import re
import sys
from pathlib import Path

MODULES = ["lithe", "lithe.residuals", "lithe.batch", "lithe.world", "lithe.torch", "lithe.gym"]


def is_public(name):
    return not name.startswith("_")


def signature_and_text(thing, name):
    """nanobind puts signatures on the first lines of a docstring; Python has them elsewhere."""
    doc = inspect.getdoc(thing) or ""
    lines = doc.split("\n")
    signatures = []
    while lines and re.match(rf"(\d+\. ``)?{re.escape(name)}\(", lines[0]):
        signatures.append(re.sub(r"^\d+\. ``|``$", "", lines.pop(0)))
        while lines and not lines[0].strip():
            lines.pop(0)
    if not signatures and callable(thing) and not inspect.isclass(thing):
        try:
            # Annotations are texts there.
            signatures = [re.sub(r"(: |-> )'([^']*)'", r"\1\2", f"{name}{inspect.signature(thing)}")]
        except (TypeError, ValueError):
            signatures = [f"{name}(…)"]
    text = "\n".join(line for line in lines if line.strip() != "Overloaded function.").strip()
    signatures = [s.replace("lithe._lithe.", "").replace("numpy.typing.", "").replace("numpy.float64", "float64") for s in signatures]
    return signatures, text


def function_entry(thing, name, level):
    signatures, text = signature_and_text(thing, name)
    return [f"{'#' * level} `{name}`", "", "```python", *signatures, "```", "", *([text, ""] if text else [])], bool(text)


def class_entry(cls, name):
    lines = [f"### `{name}`", ""]
    doc = (cls.__doc__ or "").strip()
    own = inspect.cleandoc(doc) if doc else ""
    if own:
        lines += [own, ""]
    members = []
    for member in sorted(vars(cls)):
        value = inspect.getattr_static(cls, member)
        if member == "__init__":
            signatures, text = signature_and_text(cls.__init__, "__init__")
            shown = "; ".join(f"`{name}{s[len('__init__'):]}`".replace("(self, ", "(").replace("(self)", "()") for s in signatures)
            if signatures and "*args" not in shown:
                members.insert(0, f"- {shown}" + (f": {text}" if text else ""))
        elif is_public(member):
            if isinstance(value, property):
                text = re.sub(r"\s+", " ", (value.__doc__ or "").strip())
                members.append(f"- `{member}`" + (f": {text}" if text else ""))
            elif callable(value) or isinstance(value, (staticmethod, classmethod)):
                signatures, text = signature_and_text(getattr(cls, member), member)
                text = re.sub(r"\s+", " ", text)
                shown = "; ".join(f"`{s}`".replace("(self, ", "(").replace("(self)", "()") for s in signatures) or f"`{member}`"
                members.append(f"- {shown}" + (f": {text}" if text else ""))
            elif isinstance(value, (str, int)) or hasattr(value, "value"):
                members.append(f"- `{member}`")
    return lines + members + ([""] if members else []), bool(own)


def public_things(module):
    names = getattr(module, "__all__", None) or [n for n in vars(module) if is_public(n)]
    for name in sorted(set(names), key=lambda name: (name.lower(), name)):
        thing = getattr(module, name)
        home = getattr(thing, "__module__", "") or ""
        if inspect.ismodule(thing) or not home.startswith("lithe") or not (inspect.isclass(thing) or callable(thing)):
            continue
        if module.__name__ in ("lithe.batch", "lithe.world", "lithe.torch", "lithe.gym") and home.startswith("lithe._lithe"):
            continue
        if module.__name__ == "lithe" and home == "lithe.world":
            continue  # has a chapter of its own
        yield name, thing


def reference():
    lines = ["# Reference of the Python package", "", "Made from the docstrings by `make api`. [python.md](python.md) is the place to start.", ""]
    silent = []
    for module_name in MODULES:
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError:
            parent, _, child = module_name.rpartition(".")
            module = getattr(importlib.import_module(parent), child)
        lines += [f"## `{module_name}`", "", (inspect.getdoc(module) or "").strip(), ""]
        for name, thing in public_things(module):
            entry, has_text = class_entry(thing, name) if inspect.isclass(thing) else function_entry(thing, name, 3)
            lines += entry
            if not has_text:
                silent.append(f"{module_name}.{name}")
    return "\n".join(lines).rstrip() + "\n", silent


def main():
    parser = argparse.ArgumentParser(description="Writes the reference of the Python package from its docstrings.")
    parser.add_argument("--into", metavar="PAGE")
    parser.add_argument("--check", metavar="PAGE")
    arguments = parser.parse_args()
    text, silent = reference()
    if silent:
        sys.exit("api_reference: error: no docstring: " + ", ".join(silent))
    if arguments.into:
        Path(arguments.into).write_text(text, encoding="utf-8")
    if arguments.check:
        if Path(arguments.check).read_text(encoding="utf-8") != text:
            sys.exit(f"api_reference: error: {arguments.check} is not what the package says; run make api")
        print(f"api_reference: {arguments.check} is up to date")
    elif not arguments.into:
        print(text)


if __name__ == "__main__":
    main()
