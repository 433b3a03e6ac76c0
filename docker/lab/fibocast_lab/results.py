"""Reading what `run` has written."""
import json
from pathlib import Path

from fibocast_lab.errors import LabError


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise LabError(f"cannot read {path}: is it a folder that fibocast-lab run has written?") from None
    except json.JSONDecodeError as error:
        raise LabError(f"{path} is no JSON ({error}): run the experiment again") from None


def folders_of(folder):
    """The folder itself, or those in it that hold an experiment."""
    folder = Path(folder)
    found = [folder] if (folder / "summary.json").exists() else \
        sorted(path.parent for path in folder.glob("*/summary.json"))
    if not found:
        raise LabError(f"there are no results in {folder}: write some with fibocast-lab run figure10 --output {folder}")
    return found


def load(folder):
    """(summary, manifest, timeline or None)."""
    timeline = folder / "timeline.json"
    return read_json(folder / "summary.json"), read_json(folder / "manifest.json"), \
        read_json(timeline) if timeline.exists() else None
