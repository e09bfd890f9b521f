"""Packs a folder so that the same content always gives the same bytes.

Usage: archive.py FOLDER ARCHIVE    a `.tar.gz` or `.zip`; SOURCE_DATE_EPOCH is the time of every file
"""
import gzip
import os
import pathlib
import sys
import tarfile
import time
import zipfile


def modified():
    # Zip has no time before 1980.
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315_532_800)


def mode_of(path):
    return 0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644


def tar(folder, archive):
    def neutral(entry):
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = modified(), 0, 0, "root", "root"
        entry.mode = mode_of(folder.parent / entry.name)
        return entry

    with open(archive, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as out:
            for path in [folder, *sorted(folder.rglob("*"))]:
                out.add(path, path.relative_to(folder.parent), recursive=False, filter=neutral)


def zip_(folder, archive):
    date = time.gmtime(modified())[:6]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(str(path.relative_to(folder.parent)), date)
                entry.external_attr = (0o100000 | mode_of(path)) << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                out.writestr(entry, path.read_bytes())


def main():
    folder, archive = pathlib.Path(sys.argv[1]), sys.argv[2]
    (zip_ if archive.endswith(".zip") else tar)(folder, archive)


if __name__ == "__main__":
    main()
