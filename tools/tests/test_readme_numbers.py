import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

sys.path.insert(0, str(ROOT / "tools"))
import readme_numbers  # noqa: E402


@pytest.fixture
def results(tmp_path):
    """A folder of results with few and round numbers."""
    step = {"run_name": "step/humanoid", "aggregate_name": "min", "cpu_time": 20000.0, "time_unit": "ns"}
    scene = dict(scene="humanoid", nv=33, contacts=12, forward_us=20.0, jacobians_us=30.0, vjp_us=10.0, central_us=3000.0)
    ddp = [{"name": f"ddp_humanoid/{threads}/real_time", "ms_per_iteration": 60.0 / threads} for threads in (1, 2)]
    for name, content in {"step": {"benchmarks": [step]}, "gradients": {"scenes": [scene]}, "optimize": {"benchmarks": ddp}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_numbers_come_from_the_results_of_one_core(results):
    shown = [number for _, number, _ in readme_numbers.numbers(results)]
    assert shown[:5] == ["20.0 µs", "30.0 µs, 1.50 steps", "10.0 µs, 0.50 steps", "100 times as long", "60 ms"]


def test_limits_of_errors_come_from_the_test_that_holds_them():
    source = "constexpr int kScenes = 70;\nconstexpr double kLargestError = 1e-4;\n"
    assert readme_numbers.constant(source, "kScenes") == "70"
    assert readme_numbers.constant(source, "kLargestError") == "1e-4"
    with pytest.raises(ValueError):
        readme_numbers.constant(source, "kMedianError")


def test_pages_that_numbers_come_from_exist(results):
    for _, _, source in readme_numbers.numbers(results):
        assert (ROOT / source.split("](")[1].rstrip(")")).is_file()
