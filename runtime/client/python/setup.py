"""The part of the build that pyproject.toml cannot say: protoc writes the messages into what is being built."""
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

WIRE = Path(__file__).resolve().parents[2] / "wire"


class BuildWithMessages(build_py):
    def run(self):
        super().run()
        subprocess.run(["protoc", f"--proto_path=fibocast={WIRE}", f"--python_out={self.build_lib}",
                        f"--pyi_out={self.build_lib}", "fibocast/client.proto"], check=True)


setup(cmdclass={"build_py": BuildWithMessages})
