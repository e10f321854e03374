# SPDX-License-Identifier: Apache-2.0
"""What is to be done to a module of PyTorch once somebody imports it: its compiler takes seconds to import, and most programs
never do."""
import importlib.abc
import importlib.machinery
import sys

_wanted = {}


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name not in _wanted:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            load, action = spec.loader.exec_module, _wanted.pop(name)

            def exec_module(module):
                load(module)
                action()
            spec.loader.exec_module = exec_module
        return spec


def when_imported(name, action):
    """Calls action() now if the module is there, else right after its import."""
    if name in sys.modules:
        action()
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    _wanted[name] = action


def not_any_more(name):
    """Takes a when_imported() back that has not happened."""
    _wanted.pop(name, None)
