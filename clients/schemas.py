"""Passes every tool through the converters of real SDKs, as hosts and frameworks do, and calls it as they call it.

Each converter turns the schema of an MCP tool into what its provider accepts. A schema that it cannot represent makes it
crash, or lose fields without a word.
"""

import asyncio
import contextlib
import copy
import importlib.metadata
import json
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client, types

from harness import DIALECTS, PROGRAM, Root, check

EDIT = {"path": "a.txt", "old_text": "one", "new_text": "1"}


def printed(dialect, form):
    """The tools of a dialect as `slipstitch tools` prints them."""
    command = [PROGRAM, "tools", "--dialect", dialect, "--tools", "all", "--format", form]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def fields(schema):
    return set(schema.get("properties", {}))


def check_openai_strict(name, schema):
    """OpenAI's strict mode wants every field required, so that a model can only leave one out by sending null."""
    from agents.strict_schema import ensure_strict_json_schema

    strict = ensure_strict_json_schema(copy.deepcopy(schema))
    check(set(strict.get("required", [])) == fields(schema), f"{name}: {strict}")
    for field, converted in strict["properties"].items():
        if field in schema.get("required", []):
            continue
        allows_null = "null" in converted.get("type", "") or "enum" in converted
        check(allows_null, f"{name}.{field} cannot be left out: {converted}")


def check_gemini(name, tool):
    """What `google-genai` makes of a tool of an MCP session that is passed as a tool."""
    from google.genai import _mcp_utils
    from google.genai import types as gemini

    converted = _mcp_utils.mcp_to_gemini_tool(tool)
    declaration = converted.function_declarations[0]
    parameters = declaration.parameters or gemini.Schema.from_json_schema(
        json_schema=gemini.JSONSchema(**declaration.parameters_json_schema)
    )
    check(set(parameters.properties or {}) == fields(tool.inputSchema), f"{name}: {parameters}")
    for field, converted in (parameters.properties or {}).items():
        is_optional = field not in tool.inputSchema.get("required", []) and not converted.enum
        check(bool(converted.nullable) == is_optional, f"{name}.{field}: {converted}")


def check_gemini_format(dialect):
    from google.genai import types as gemini

    for entry in printed(dialect, "gemini"):
        for declaration in gemini.Tool.model_validate(entry).function_declarations:
            check(declaration.parameters.type == gemini.Type.OBJECT, f"{dialect}: {declaration}")


def check_openai_formats(dialect):
    from openai.types.chat import ChatCompletionFunctionToolParam
    from openai.types.responses import FunctionToolParam
    from pydantic import TypeAdapter

    for form, kind in (("openai", ChatCompletionFunctionToolParam), ("openai-responses", FunctionToolParam)):
        TypeAdapter(list[kind]).validate_python(printed(dialect, form))


async def check_smolagents(server, root):
    """smolagents sends every field of a tool, and null for those that its model leaves out."""
    from smolagents import ToolCollection

    def run():
        with ToolCollection.from_mcp(server, trust_remote_code=True, structured_output=False) as tools:
            edit = next(tool for tool in tools.tools if tool.name == "edit_file")
            call = dict.fromkeys(edit.inputs)
            return edit(**{**call, **EDIT})

    answer = await asyncio.to_thread(run)
    check(root.read("a.txt").startswith("1\n"), f"smolagents: {answer}")


async def check_pydantic_ai(server, root):
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai.mcp import MCPToolset

    toolset = MCPToolset(StdioTransport(server.command, server.args, env=server.env))
    async with toolset:
        tools = await toolset.list_tools()
        check({"edit_file", "read_file"} <= {tool.name for tool in tools}, f"pydantic-ai: {tools}")
        answer = await toolset.direct_call_tool("edit_file", EDIT)
    check(isinstance(answer, str) and answer.startswith("Changed"), f"pydantic-ai shows the model {answer!r}")


async def check_langchain(server, root):
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langchain_mcp_adapters.tools import load_mcp_tools

    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        for tool in tools.values():
            convert_to_openai_tool(tool, strict=True)
        answer = await tools["edit_file"].ainvoke(EDIT)
    check("Changed" in str(answer), f"langchain: {answer}")


async def check_fastmcp(server, root):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    async with Client(StdioTransport(server.command, server.args, env=server.env)) as client:
        await client.list_tools()
        answer = await client.call_tool("edit_file", EDIT)
    check(answer.data is None and "Changed" in answer.content[0].text, f"fastmcp: {answer}")


FRAMEWORKS = {
    "smolagents": check_smolagents,
    "pydantic-ai-slim": check_pydantic_ai,
    "langchain-mcp-adapters": check_langchain,
    "fastmcp": check_fastmcp,
}


def check_converters():
    for dialect in DIALECTS:
        for definition in printed(dialect, "mcp")["tools"]:
            name = f"{dialect}.{definition['name']}"
            check("additionalProperties" not in definition["inputSchema"], name)
            check("outputSchema" not in definition, name)
            check_openai_strict(name, definition["inputSchema"])
            check_gemini(name, types.Tool.model_validate(definition))
        check_gemini_format(dialect)
        check_openai_formats(dialect)
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("openai-agents", "google-genai"))
    print(f"schema converters: every tool of {len(DIALECTS)} dialects passed ({versions})")


async def main():
    check_converters()
    for name, run in FRAMEWORKS.items():
        root = Root({"a.txt": "one\ntwo\n"})
        program, *arguments = root.command()
        server = StdioServerParameters(command=program, args=arguments, env=root.environment())
        with contextlib.redirect_stdout(sys.stderr):
            await run(server, root)
        check(root.read("a.txt") == "1\ntwo\n", f"{name} did not edit the file")
        root.close()
        print(f"{name} {importlib.metadata.version(name)}: passed")


asyncio.run(main())
