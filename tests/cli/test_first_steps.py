import os
import subprocess

LITHE = os.path.abspath(os.environ.get("LITHE_CLI", "build/lithe"))


def test_without_arguments_it_says_what_to_try(tmp_path):
    result = subprocess.run([LITHE], capture_output=True, text=True, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Lithe ")
    called = f"  {LITHE} "
    commands = [line.removeprefix(called).split()[0] for line in lines if line.startswith(called)]
    assert commands[:2] == ["demo", "view"]
    offered = subprocess.run([LITHE, "--help"], capture_output=True, text=True).stdout
    assert all(f"  {command} " in offered for command in commands)


def test_commands_are_named_as_the_program_was_called(tmp_path):
    os.symlink(LITHE, tmp_path / "tool")
    result = subprocess.run(["./tool"], capture_output=True, text=True, cwd=tmp_path)
    assert "  ./tool demo " in result.stdout
