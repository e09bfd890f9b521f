"""What the program is built from, for one target: licences and a software bill of materials.

Usage: dependencies.py TARGET FOLDER    writes THIRD-PARTY-LICENSES.txt and slipstitch.cdx.json
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

LICENCE_FILE = re.compile(r"(un)?licen[cs]e|copying|notice|copyright", re.IGNORECASE)


def cargo(*arguments):
    return subprocess.run(["cargo", *arguments, "--locked"], check=True, capture_output=True, text=True).stdout


def packages(target):
    """The packages that are linked into the program, by id; the program's own id; and which package needs which.

    `cargo tree` selects features for this program alone; `cargo metadata` also those that only tests use.
    """
    metadata = json.loads(cargo("metadata", "--format-version=1", f"--filter-platform={target}"))
    by_id = {f"{package['name']} v{package['version']}": package for package in metadata["packages"]}
    tree = cargo("tree", "-p", "slipstitch-cli", "-e", "normal,no-proc-macro", "--target", target, "--prefix", "depth")
    edges, path = {}, []
    for line in tree.splitlines():
        depth, id = re.match(r"(\d+)(\S+ v\S+)", line).groups()
        path[int(depth) :] = [id]
        edges.setdefault(id, [])
        if len(path) > 1:
            edges[path[-2]].append(id)
    return by_id, path[0], edges


def licence_texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [file for file in folder.iterdir() if file.is_file() and LICENCE_FILE.match(file.name)]
    if not files and package["license_file"]:
        files = [folder / package["license_file"]]
    return [file.read_text(errors="replace").strip() for file in sorted(files)]


def third_party_licences(by_id, edges):
    """Every licence text once, with the packages it comes with."""
    users, without = {}, []
    for id in edges:
        package = by_id[id]
        if package["source"] is None:
            continue
        name = f"{package['name']} {package['version']}"
        texts = licence_texts(package)
        if not texts:
            without.append(f"{name}: {package['license']}")
        for text in texts:
            users.setdefault(text, set()).add(name)
    lines = ["Slipstitch contains the following packages. Their licences are below.", ""]
    external = [by_id[id] for id in edges if by_id[id]["source"]]
    for package in sorted(external, key=lambda package: (package["name"], package["version"])):
        lines.append(f"{package['name']} {package['version']}: {package['license'] or 'see its licence file'}")
    if without:
        lines += ["", "Packages without a licence file of their own:", *sorted(without)]
    for text, names in sorted(users.items(), key=lambda entry: min(entry[1])):
        lines += ["", "=" * 100, ", ".join(sorted(names)), "=" * 100, "", text]
    return "\n".join(lines) + "\n"


def bill_of_materials(by_id, top, edges, target):
    """A CycloneDX 1.5 document. It depends on nothing but the lock file and the target, so it is reproducible."""
    locked = tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
    checksums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in locked}

    def reference(id):
        return f"pkg:cargo/{by_id[id]['name']}@{by_id[id]['version']}"

    def component(id):
        package = by_id[id]
        entry = {
            "type": "application" if id == top else "library",
            "bom-ref": reference(id),
            "name": package["name"],
            "version": package["version"],
            "purl": reference(id),
        }
        if package["license"]:
            # Cargo accepts a slash for OR, SPDX does not.
            entry["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        checksum = checksums.get((package["name"], package["version"]))
        if checksum:
            entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return entry

    components = [component(id) for id in sorted(edges, key=reference) if id != top]
    relations = [
        {"ref": reference(id), "dependsOn": sorted({reference(other) for other in edges[id]})}
        for id in sorted(edges, key=reference)
    ]
    digest = hashlib.sha256(json.dumps([target, components, relations]).encode()).digest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}",
        "version": 1,
        "metadata": {
            "component": component(top),
            "properties": [{"name": "cargo:target", "value": target}],
        },
        "components": components,
        "dependencies": relations,
    }


def main():
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    by_id, top, edges = packages(target)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "THIRD-PARTY-LICENSES.txt").write_text(third_party_licences(by_id, edges))
    bill = json.dumps(bill_of_materials(by_id, top, edges, target), indent=1)
    (folder / "slipstitch.cdx.json").write_text(bill + "\n")


if __name__ == "__main__":
    main()
