#!/usr/bin/env python3
"""aider's edit formats: `diff` for texts to replace, `udiff` for unified diffs, `patch` for V4A patches.

Runs aider's own code on a real file, read and written as aider does it. aider itself needs some eighty packages, most of them to talk
to models; only the classes that its edit formats derive from are replaced here.
"""

import importlib.machinery
import importlib.util
import pathlib
import sys
import types

from case_loop import Refused, serve

FENCE = ("```", "```")


class TextFiles:
    """Reads and writes like aider's `InputOutput` with its default options."""

    def read_text(self, name, silent=False):
        with open(name, encoding="utf-8") as file:
            return file.read()

    def write_text(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


class Coder:
    """What the edit formats use of aider's base class."""

    fence = FENCE

    def __init__(self, root, request, answer):
        self.root, self.partial_response_content = root, answer
        self.io = TextFiles()
        self.abs_fnames = {str(root / request["path"])}
        self.relative = [request["path"]]

    def abs_root_path(self, path):
        return str(self.root / path)

    def get_inchat_relative_files(self):
        return self.relative

    def get_rel_fname(self, name):
        return str(pathlib.Path(name).relative_to(self.root))


def install_stand_ins():
    """Makes `aider.coders` a folder of modules, with the base class above."""
    location = pathlib.Path(importlib.util.find_spec("aider").submodule_search_locations[0])
    for name, folder in [("aider", location), ("aider.coders", location / "coders")]:
        package = types.ModuleType(name)
        package.__path__ = [str(folder)]
        package.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        sys.modules[name] = package
    stand_ins = {
        "aider.coders.base_coder": {"Coder": Coder},
        "aider.dump": {"dump": print},
        "aider.utils": {"GitTemporaryDirectory": object, "is_image_file": lambda name: False},
        "aider.coders.editblock_prompts": {"EditBlockPrompts": object},
        "aider.coders.udiff_prompts": {"UnifiedDiffPrompts": object},
        "aider.coders.patch_prompts": {"PatchPrompts": object},
    }
    for name, content in stand_ins.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        sys.modules[name] = module
    sys.modules["aider"].utils = sys.modules["aider.utils"]


install_stand_ins()

from aider.coders import editblock_coder, patch_coder, udiff_coder  # noqa: E402


def whole_lines(text):
    return text if not text or text.endswith("\n") else text + "\n"


def edit(root, request):
    path = request["path"]
    if "old" in request:
        # The block is built by the caller here, so only its application is tested.
        coder = editblock_coder.EditBlockCoder(root, request, "")
        edits = [(path, whole_lines(request["old"]), whole_lines(request["new"]))]
    elif "diff" in request:
        coder = udiff_coder.UnifiedDiffCoder(root, request, f"```diff\n{whole_lines(request['diff'])}```\n")
        edits = coder.get_edits()
    else:
        coder = patch_coder.PatchCoder(root, request, request["v4a"])
        edits = coder.get_edits()
    if not edits:
        raise Refused("no edits found in the answer")
    coder.apply_edits(edits)


serve(edit)
