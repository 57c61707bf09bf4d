"""Compiles the kernels at installation, where there is a C compiler; without one their source runs as it is.

The compiled modules lie beside their source, where Python prefers them: an editable install runs them from
there, a wheel takes them along. ODRADEK_PURE=1 at installation leaves them out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNELS = ("odradek/wire/kernel.py",)  # below src/
COMPILE = (sys.executable, "-m", "mypyc", "--ignore-missing-imports", "--follow-imports=silent", *KERNELS)
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")  # this Python's and machine's; others' are left alone


class CompiledKernels(BuildHookInterface[Any]):
    """What hatchling calls before it builds a wheel, a real one or one that only points to this checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        source = Path(self.root, "src")
        for old in compiled(source):
            old.unlink()
        if not os.environ.get("ODRADEK_PURE") and self.compile(source) and version != "editable":
            build_data["artifacts"] += [f"/{path.relative_to(self.root)}" for path in compiled(source)]
            build_data["pure_python"] = False
            build_data["infer_tag"] = True

    def compile(self, source: Path) -> bool:
        """Compile a copy, so that what the compiler leaves behind goes with it."""
        with tempfile.TemporaryDirectory(prefix="odradek-") as name:
            copy = Path(name)
            shutil.copytree(source / "odradek", copy / "odradek")
            ran = subprocess.run(COMPILE, cwd=copy, capture_output=True, text=True, check=False)
            if ran.returncode:
                why = (ran.stderr or ran.stdout).strip().splitlines()[-1][:200]
                self.app.display_warning(f"the kernels run pure, because they did not compile: {why}")
                return False
            for made in compiled(copy):
                shutil.copy2(made, source / made.relative_to(copy))
        return True


def compiled(source: Path) -> list[Path]:
    """A kernel becomes two modules: one of its name, and `__mypyc` with the code."""
    return [
        made for kernel in KERNELS for made in (source / kernel).parent.glob(f"{Path(kernel).stem}*{SUFFIX}")
    ]
