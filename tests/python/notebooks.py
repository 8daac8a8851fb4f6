"""Executes the notebooks of assets/notebooks, in their folder, as somebody would who runs all their cells."""
import sys
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "notebooks"


def main():
    failed = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        assert all(not cell.get("outputs") for cell in notebook.cells), f"{path.name} is stored with outputs"
        try:
            nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
            print(f"{path.name}: passed")
        except Exception as error:  # the other notebooks go on
            failed += 1
            print(f"{path.name}: FAILED: {error}")
            continue
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                text = output.get("text") or output.get("data", {}).get("text/plain", "")
                print("   ", text.strip().replace("\n", "\n    ")[:1500])
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
