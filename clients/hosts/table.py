"""The table of tokens in docs/mcp.md."""

import json
import pathlib
import subprocess

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "mcp.md"
START, END = "<!-- hosts: written by scripts/test-hosts -->", "<!-- hosts: end -->"
# Has the vocabulary in it; Python's tiktoken would download it.
TOKENIZER = "gpt-tokenizer"


def count_tokens(texts, cache):
    """The number of o200k tokens of each text."""
    folder = cache / "tokenizer"
    if not (folder / "node_modules" / TOKENIZER).exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true, "type": "module"}\n')
        command = ["npm", "install", "--silent", "--no-package-lock", "--no-fund", "--no-audit", TOKENIZER]
        subprocess.run(command, cwd=folder, check=True, timeout=600)
    script = (
        f"import {{ encode }} from '{TOKENIZER}/encoding/o200k_base';"
        "const texts = JSON.parse((await import('node:fs')).readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(texts.map((text) => encode(text).length)));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], cwd=folder, input=json.dumps(texts), text=True,
        capture_output=True, check=True, timeout=120,
    )
    return json.loads(done.stdout)


def write_table(rows, cache):
    """Replaces the table in the document."""
    lines = [
        START,
        "| host or framework | tool list | instructions | success | refusal | protected path | uninstall |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        if "reason" in row:
            lines.append(f"| {row['host']} | not run: {row['reason']} | | | | | |")
            continue
        # As it is sent, without spaces.
        tools = json.dumps(row["tools"], ensure_ascii=False, separators=(",", ":")) if row["tools"] else ""
        texts = [tools, row["instructions"], *(row["results"][turn][0] for turn in range(3))]
        tools, instructions, *answers = count_tokens(texts, cache)
        cells = [f"{row['host']} {row['version']}", tools or "–", instructions or "not shown", *answers, row["uninstall"]]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    text = DOCUMENT.read_text()
    before, rest = text.split(START)
    DOCUMENT.write_text(before + "\n".join([*lines, END]) + rest.split(END)[1])
