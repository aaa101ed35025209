import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_has_the_version_of_the_library():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    header = (ROOT / "lithe" / "core" / "version.h").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == re.findall(r'kVersion\[\] = "(.*)";', header)


def test_the_citation_and_the_readme_name_the_same_paper():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    (title,) = re.findall(r"^    title: (.*)$", citation, re.MULTILINE)
    (doi,) = re.findall(r"^    doi: (.*)$", citation, re.MULTILINE)
    assert title in readme
    assert f"https://doi.org/{doi}" in readme
