import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_readme_shows_the_example_that_the_install_test_compiles():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```cpp\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    example = (ROOT / "examples" / "readme_example.cpp").read_text(encoding="utf-8")
    assert example in blocks
