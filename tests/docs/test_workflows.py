"""The workflows and forms of .github: right by their schemas and by actionlint, and about what is here."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from s2mlx.cli.main import COMMANDS, command_parser

from .markdown import ROOT

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
KINDS = dict.fromkeys(WORKFLOWS, "vendor.github-workflows") | dict.fromkeys(FORMS, "vendor.github-issue-forms")


def read(path):
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def valid(path, schema) -> subprocess.CompletedProcess:
    words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    return subprocess.run(words, capture_output=True, text=True)


def steps():
    """(workflow, step) of every job."""
    for path in WORKFLOWS:
        for job in read(path)["jobs"].values():
            yield from ((path.name, step) for step in job["steps"])


@pytest.mark.parametrize("path", KINDS, ids=lambda path: path.name)
def test_schema(path):
    done = valid(path, KINDS[path])
    assert done.returncode == 0, done.stdout


def test_a_wrong_one_would_be_found(tmp_path):
    wrong = tmp_path / "tests.yml"
    wrong.write_text((GITHUB / "workflows" / "tests.yml").read_text().replace("runs-on:", "run-on:"))
    assert valid(wrong, "vendor.github-workflows").returncode != 0


def test_actionlint():
    tool = shutil.which("actionlint") or shutil.which("actionlint", path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip("needs actionlint")
    done = subprocess.run([tool, *map(str, WORKFLOWS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_systems_and_pythons_are_those_that_we_promise():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    matrix = read(GITHUB / "workflows" / "tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert {system.split("-")[0] for system in matrix["system"]} == {"macos", "ubuntu"} and "macos-15" in matrix[
        "system"
    ]
    assert project["requires-python"] == f">={matrix['python'][0]}"
    assert f"Python {matrix['python'][0]} to {matrix['python'][-1]}" in (ROOT / "README.md").read_text()


def test_our_commands_are_ones_that_there_are():
    found = []
    for name, step in steps():
        for line in step.get("run", "").splitlines():
            for words in re.findall(r"(?:^|[ /])s2mlx ((?:{}).*)".format("|".join(COMMANDS)), line):
                command, *rest = shlex.split(words)
                command_parser(command)[1].parse(rest)
                found.append((name, command))
    assert ("tests.yml", "doctor") in found and ("release.yml", "say") in found


def test_what_comes_from_outside_is_never_pasted_into_a_script():
    """A branch's name is anybody's to choose: it reaches a script as a variable."""
    assert not [step for _, step in steps() if "${{ github." in step.get("run", "")]


def test_only_the_publishing_job_may_say_who_it_is():
    jobs = read(GITHUB / "workflows" / "release.yml")["jobs"]
    assert [name for name, job in jobs.items() if job.get("permissions", {}).get("id-token")] == ["publish"]
    assert not any("run" in step for step in jobs["publish"]["steps"])


def test_the_form_asks_for_the_report():
    [form] = FORMS
    text = form.read_text()
    assert "s2mlx doctor --report" in text and "s2mlx-doctor.md" in text
    fields = {field.get("id"): field for field in read(form)["body"]}
    assert fields["report"]["validations"]["required"]
