"""Checks that a file is a macOS program for a target, needs only libraries of the system, and is signed.

Usage: macho.py PROGRAM TARGET

On Apple silicon, macOS kills a program whose signature does not match its content. A linker adds one; a tool that changes
the file afterwards, such as one that strips it, may break it.
"""
import hashlib
import pathlib
import struct
import sys

PROCESSORS = {"x86_64": 0x01000007, "aarch64": 0x0100000C}
LOAD_DYLIB, CODE_SIGNATURE = 0xC, 0x1D
CODE_DIRECTORY, SHA256 = 0xFADE0C02, 2


def load_commands(data):
    """The number and the bytes of each load command of a 64-bit Mach-O file."""
    offset = 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, offset)
        yield command, data[offset : offset + size]
        offset += size


def libraries(data):
    """The dynamic libraries that it loads."""
    found = [body for command, body in load_commands(data) if command == LOAD_DYLIB]
    return [body[struct.unpack_from("<I", body, 8)[0] :].split(b"\0")[0].decode() for body in found]


def is_signed(data):
    """Whether the signature has the right hash of every page."""
    for command, body in load_commands(data):
        if command != CODE_SIGNATURE:
            continue
        start = struct.unpack_from("<I", body, 8)[0]
        count = struct.unpack_from(">I", data, start + 8)[0]
        for index in range(count):
            at = start + struct.unpack_from(">I", data, start + 16 + 8 * index)[0]
            if struct.unpack_from(">I", data, at)[0] != CODE_DIRECTORY:
                continue
            hashes, _, _, pages, limit = struct.unpack_from(">IIIII", data, at + 16)
            size, kind, _, page_bits = struct.unpack_from("BBBB", data, at + 36)
            page = 1 << page_bits
            return kind == SHA256 and pages == -(-limit // page) and all(
                hashlib.sha256(data[number * page : min((number + 1) * page, limit)]).digest()
                == data[at + hashes + number * size : at + hashes + (number + 1) * size]
                for number in range(pages)
            )
    return False


def main():
    program, target = pathlib.Path(sys.argv[1]), sys.argv[2]
    data = program.read_bytes()
    magic, processor = struct.unpack_from("<II", data)
    if magic != 0xFEEDFACF or processor != PROCESSORS[target.split("-")[0]]:
        sys.exit(f"{program} is not a program for {target}")
    foreign = [name for name in libraries(data) if not name.startswith(("/usr/lib/", "/System/Library/"))]
    if foreign or not libraries(data):
        sys.exit(f"{program} needs {foreign or 'no library at all'}")
    # Intel programs run without a signature.
    if target.startswith("aarch64") and not is_signed(data):
        sys.exit(f"{program} has no valid signature, so macOS would kill it")


if __name__ == "__main__":
    main()
