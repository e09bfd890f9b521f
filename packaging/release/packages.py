"""Python wheels and npm packages that contain the program, so that `pipx install slipstitch` and `npx slipstitch` work.

Usage: packages.py FOLDER VERSION TARGET PROGRAM LICENCE...  writes one wheel and one npm package
       packages.py FOLDER VERSION npm TARGET...              writes the npm package that chooses among them
"""
import base64
import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile
import zipfile

from archive import modified

SUMMARY = "Edits files in the right place or not at all, and can undo every edit"
HOMEPAGE = "https://github.com/slipstitch/slipstitch"
LICENCE = "MIT OR Apache-2.0"

# The tags of wheels; the system and the processor as Node.js calls them.
SYSTEMS = {
    # Linked statically, so they run with every C library.
    "x86_64-unknown-linux-musl": ("manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "linux", "x64"),
    "aarch64-unknown-linux-musl": ("manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", "linux", "arm64"),
    "x86_64-apple-darwin": ("macosx_10_12_x86_64", "darwin", "x64"),
    "aarch64-apple-darwin": ("macosx_11_0_arm64", "darwin", "arm64"),
    "x86_64-pc-windows-gnu": ("win_amd64", "win32", "x64"),
}


def wheel(folder, version, tag, program, licences):
    files = {
        f"slipstitch-{version}.data/scripts/{program.name}": (program.read_bytes(), 0o755),
        f"slipstitch-{version}.dist-info/METADATA": (
            "\n".join([
                "Metadata-Version: 2.4",
                "Name: slipstitch",
                f"Version: {version}",
                f"Summary: {SUMMARY}",
                f"Project-URL: Homepage, {HOMEPAGE}",
                f"License-Expression: {LICENCE}",
                *[f"License-File: {licence.name}" for licence in licences],
                "Requires-Python: >=3.8",
                "Description-Content-Type: text/markdown",
                "",
                pathlib.Path("README.md").read_text(),
            ]).encode(),
            0o644,
        ),
        f"slipstitch-{version}.dist-info/WHEEL": (
            "\n".join([
                "Wheel-Version: 1.0",
                "Generator: slipstitch",
                "Root-Is-Purelib: false",
                *[f"Tag: py3-none-{one}" for one in tag.split(".")],
                "",
            ]).encode(),
            0o644,
        ),
    }
    for licence in licences:
        files[f"slipstitch-{version}.dist-info/licenses/{licence.name}"] = (licence.read_bytes(), 0o644)
    record = f"slipstitch-{version}.dist-info/RECORD"
    lines = []
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    files[record] = ("".join([*lines, f"{record},,\n"]).encode(), 0o644)
    with zipfile.ZipFile(folder / f"slipstitch-{version}-py3-none-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as out:
        for name, (data, mode) in files.items():
            # A fixed date makes the file reproducible.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)


def npm(path, files):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as out:
            for name, (data, mode) in sorted(files.items()):
                entry = tarfile.TarInfo(f"package/{name}")
                entry.size, entry.mode, entry.mtime = len(data), mode, modified()
                out.addfile(entry, io.BytesIO(data))


def manifest(name, version, **rest):
    return {
        "name": name,
        "version": version,
        "description": SUMMARY,
        "license": LICENCE,
        "homepage": HOMEPAGE,
        "repository": {"type": "git", "url": f"git+{HOMEPAGE}.git"},
        **rest,
    }


def as_file(value):
    return (json.dumps(value, indent=2) + "\n").encode(), 0o644


def main():
    folder, version, target, *rest = sys.argv[1:]
    folder = pathlib.Path(folder)
    if target == "npm":
        names = [f"@slipstitch/{SYSTEMS[one][1]}-{SYSTEMS[one][2]}" for one in rest if one in SYSTEMS]
        package = manifest(
            "slipstitch",
            version,
            bin={"slipstitch": "slipstitch.js"},
            engines={"node": ">=18"},
            optionalDependencies={name: version for name in names},
        )
        launcher = pathlib.Path("packaging/npm/slipstitch.js").read_bytes()
        readme = pathlib.Path("README.md").read_bytes()
        files = {"package.json": as_file(package), "slipstitch.js": (launcher, 0o755), "README.md": (readme, 0o644)}
        npm(folder / f"slipstitch-npm-{version}.tgz", files)
        return
    if target not in SYSTEMS:
        # The build for glibc: its wheel would have the same name as the static one.
        return
    program, licences = pathlib.Path(rest[0]), [pathlib.Path(name) for name in rest[1:]]
    tag, system, processor = SYSTEMS[target]
    wheel(folder, version, tag, program, licences)
    package = manifest(f"@slipstitch/{system}-{processor}", version, os=[system], cpu=[processor])
    files = {licence.name: (licence.read_bytes(), 0o644) for licence in licences}
    files |= {"package.json": as_file(package), program.name: (program.read_bytes(), 0o755)}
    npm(folder / f"slipstitch-npm-{system}-{processor}-{version}.tgz", files)


if __name__ == "__main__":
    main()
