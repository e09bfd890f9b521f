"""Agent frameworks, each with Slipstitch's server and the scripted model. Usage: frameworks.py NAME MODEL-URL PROMPT COMMAND...

Runs one framework in the project of the current folder. COMMAND starts the server."""

import asyncio
import json
import os
import sys

KEY = "x"
NAME = "scripted"
MAX_TURNS = 12


async def openai_agents(url, prompt, command):
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStdio
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=url, api_key=KEY)
    model = OpenAIChatCompletionsModel(model=NAME, openai_client=client)
    parameters = {"command": command[0], "args": command[1:], "env": dict(os.environ), "cwd": os.getcwd()}
    async with MCPServerStdio(params=parameters, client_session_timeout_seconds=60) as server:
        agent = Agent(name="test", model=model, mcp_servers=[server])
        return (await Runner.run(agent, prompt, max_turns=MAX_TURNS)).final_output


async def pydantic_ai(url, prompt, command):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(NAME, provider=OpenAIProvider(base_url=url, api_key=KEY))
    try:
        from pydantic_ai.mcp import MCPServerStdio
        toolset = MCPServerStdio(command[0], args=command[1:], env=dict(os.environ), cwd=os.getcwd(), timeout=60)
    except ImportError:
        from fastmcp.client.transports import StdioTransport
        from pydantic_ai.mcp import MCPToolset
        toolset = MCPToolset(StdioTransport(command[0], command[1:], env=dict(os.environ), cwd=os.getcwd()))
    agent = Agent(model, toolsets=[toolset], retries=5)
    async with agent:
        return (await agent.run(prompt)).output


async def langchain(url, prompt, command):
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_mcp_adapters.tools import load_mcp_tools
    from langchain_openai import ChatOpenAI

    try:
        from langchain.agents import create_agent
    except ImportError:
        from langgraph.prebuilt import create_react_agent as create_agent
    server = {"command": command[0], "args": command[1:], "transport": "stdio", "env": dict(os.environ)}
    client = MultiServerMCPClient({"slipstitch": server})
    async with client.session("slipstitch") as session:
        tools = await load_mcp_tools(session)
        for tool in tools:
            # Otherwise a refusal ends the run.
            tool.handle_tool_error = True
        agent = create_agent(ChatOpenAI(model=NAME, base_url=url, api_key=KEY), tools)
        state = await agent.ainvoke({"messages": [("user", prompt)]}, {"recursion_limit": 3 * MAX_TURNS})
    return state["messages"][-1].content


async def smolagents(url, prompt, command):
    from mcp import StdioServerParameters
    from smolagents import MCPClient, OpenAIServerModel, ToolCallingAgent

    def run():
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ), cwd=os.getcwd())
        with MCPClient(parameters, structured_output=False) as tools:
            model = OpenAIServerModel(NAME, api_base=url, api_key=KEY)
            return ToolCallingAgent(tools=tools, model=model, max_steps=MAX_TURNS).run(prompt)

    return await asyncio.to_thread(run)


async def agno(url, prompt, command):
    from agno.agent import Agent
    from agno.models.openai.like import OpenAILike
    from agno.tools.mcp import MCPTools
    from mcp import StdioServerParameters

    parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ), cwd=os.getcwd())
    async with MCPTools(server_params=parameters, timeout_seconds=60) as tools:
        agent = Agent(model=OpenAILike(id=NAME, base_url=url, api_key=KEY), tools=[tools], telemetry=False)
        return (await agent.arun(prompt)).content


async def fastmcp(url, prompt, command):
    """FastMCP has no agent: the loop is here, with the official client for the model."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport
    from openai import AsyncOpenAI

    model = AsyncOpenAI(base_url=url, api_key=KEY)
    messages = [{"role": "user", "content": prompt}]
    async with Client(StdioTransport(command[0], command[1:], env=dict(os.environ), cwd=os.getcwd())) as server:
        listed = await server.list_tools()
        # Older versions have the other name.
        schema = lambda tool: getattr(tool, "input_schema", None) or tool.inputSchema
        tools = [{"type": "function", "function": {"name": tool.name, "description": tool.description,
                                                   "parameters": schema(tool)}} for tool in listed]
        for _ in range(MAX_TURNS):
            answer = await model.chat.completions.create(model=NAME, messages=messages, tools=tools)
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content

            async def call(wanted):
                arguments = json.loads(wanted.function.arguments)
                result = await server.call_tool(wanted.function.name, arguments, raise_on_error=False)
                text = "\n".join(part.text for part in result.content if part.type == "text")
                return {"role": "tool", "tool_call_id": wanted.id, "content": text}

            messages += await asyncio.gather(*map(call, message.tool_calls))
    return None


# By the name of the package: how it runs, and what pip installs. Their dependencies conflict, so each has an environment.
FRAMEWORKS = {
    "openai-agents": (openai_agents, ["openai-agents"]),
    "pydantic-ai-slim": (pydantic_ai, ["pydantic-ai-slim[mcp,openai]"]),
    "langchain-mcp-adapters": (langchain, ["langchain-mcp-adapters", "langchain", "langchain-openai"]),
    "smolagents": (smolagents, ["smolagents[mcp,openai]", "mcp<2"]),
    "agno": (agno, ["agno", "fastmcp", "openai"]),
    "fastmcp": (fastmcp, ["fastmcp", "openai"]),
}

if __name__ == "__main__":
    _, name, url, prompt, *command = sys.argv
    print(asyncio.run(FRAMEWORKS[name][0](url, prompt, command)))
