"""Fills in the files that package managers read: checksums, the Homebrew formula, the Scoop manifest, the installers.

Usage: manifests.py FOLDER VERSION HOMEPAGE URL [TARGET...]

FOLDER has the archives of the targets; URL is where they will be downloaded from. A template that names a target which was
not built is not written, and the output says so.
"""
import hashlib
import pathlib
import re
import sys

TEMPLATES = {
    "slipstitch.rb": "packaging/homebrew/slipstitch.rb.in",
    "slipstitch.json": "packaging/scoop/slipstitch.json.in",
    "install.sh": "packaging/install/install.sh",
    "install.ps1": "packaging/install/install.ps1",
}


class NotBuilt(Exception):
    """A template names a target without an archive."""


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def archive_name(version, target):
    return f"slipstitch-{version}-{target}" + (".zip" if "windows" in target else ".tar.gz")


def fill_in(template, values, folder, version, targets):
    def value(match):
        what, _, target = match[1].partition(" ")
        if not target:
            return values[what]
        if target not in targets:
            raise NotBuilt(target)
        archive = archive_name(version, target)
        return {
            "ARCHIVE": lambda: archive,
            "FOLDER": lambda: f"slipstitch-{version}-{target}",
            "SHA256": lambda: sha256(folder / archive),
        }[what]()

    # PowerShell writes lists as @(...) and hashes as @{...}, which do not look like this.
    return re.sub(r"@([A-Z][A-Z0-9]+(?: [a-z0-9_-]+)?)@", value, template)


def main():
    folder, version, homepage, url, *targets = sys.argv[1:]
    folder = pathlib.Path(folder)
    values = {"VERSION": version, "HOMEPAGE": homepage, "URL": url}
    for name, template in TEMPLATES.items():
        try:
            text = fill_in(pathlib.Path(template).read_text(), values, folder, version, targets)
        except NotBuilt as missing:
            (folder / name).unlink(missing_ok=True)
            print(f"{name} is not written: there is no archive for {missing}")
            continue
        (folder / name).write_text(text)
    sums = [f"{sha256(file)}  {file.name}\n" for file in sorted(folder.iterdir()) if file.name != "SHA256SUMS"]
    (folder / "SHA256SUMS").write_text("".join(sums))


if __name__ == "__main__":
    main()
