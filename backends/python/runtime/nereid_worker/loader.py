# SPDX-License-Identifier: Apache-2.0
"""Imports the module of a model, and says in words what went wrong in a model's code."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import traceback
import types
from typing import Any, Dict

_OWN_FOLDERS = (os.path.dirname(os.path.abspath(__file__)),)


def describe(error: BaseException) -> str:
    """Returns `Type: message`, and the places of the model's code, the innermost first."""
    name = type(error).__name__
    places = []
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith("<frozen ") or frame.filename.startswith(_OWN_FOLDERS):
            continue
        places.append(f"  {frame.filename}({frame.lineno}): {frame.name}\n")
    text = f"{name}: {error}"
    return text + "\n\nAt:\n" + "".join(places) if places else text


class OwnPackage(importlib.abc.MetaPathFinder):
    """Finds the package `nereid` of models, also if the interpreter has the package of the server.

    The folders of the latter come after the own one, so that its modules can be imported.
    """

    def __init__(self, runtime: str) -> None:
        self._folder = os.path.join(runtime, "nereid")

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """Returns the specification of `nereid`, and None for any other module."""
        if fullname != "nereid":
            return None
        folders = [self._folder]
        other = importlib.machinery.PathFinder.find_spec("nereid")
        if other is not None and other.submodule_search_locations is not None:
            folders.extend(folder for folder in other.submodule_search_locations
                           if folder not in folders)
        return importlib.util.spec_from_file_location(
            "nereid", os.path.join(self._folder, "__init__.py"), submodule_search_locations=folders)


def prepare_path(folders: Any) -> None:
    """Replaces the folder of this program in sys.path by those of the model."""
    own = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv else ""
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != own
                   and folder not in _OWN_FOLDERS]
    sys.path.extend(folders)
    sys.argv = [""]
    sys.meta_path.insert(0, OwnPackage(os.path.dirname(_OWN_FOLDERS[0])))


def import_model(argument: Dict[str, Any]) -> Any:
    """Imports the file of the model and returns its class."""
    name = argument["module"]
    package, _, _ = name.partition(".")
    if package != name:
        _make_package(package, argument["version_directory"])
    spec = importlib.util.spec_from_file_location(name, argument["model_file"])
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {argument['model_file']}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.TritonPythonModel


def _make_package(name: str, folder: str) -> None:
    """Makes the folder of the version a package, so that `from . import x` works."""
    init = os.path.join(folder, "__init__.py")
    if os.path.exists(init):
        spec = importlib.util.spec_from_file_location(name, init,
                                                      submodule_search_locations=[folder])
        if spec is not None and spec.loader is not None:
            package = importlib.util.module_from_spec(spec)
            sys.modules[name] = package
            spec.loader.exec_module(package)
            return
    package = types.ModuleType(name)
    package.__path__ = [folder]
    sys.modules[name] = package
