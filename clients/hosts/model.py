"""A scripted model on loopback. It speaks the wire formats of OpenAI (chat and responses), Anthropic (messages) and Gemini
(generateContent), each with and without streaming, and answers every request with the next turn of its script.

A turn is a list of tool calls, `(tool, arguments)`, or a final text. The next turn follows from the request alone: it is the
number of turns with calls that the conversation already has. Requests without Slipstitch's tools (titles, summaries) get a
short text. What the model saw is in `Model.results`: per turn, the texts of the tool results."""

import itertools
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SIDE_ANSWER = "ok"
SEARCH = re.compile(r"tool_?search", re.IGNORECASE)


class Model:
    """The server. `script` is a list of turns."""

    def __init__(self, script):
        self.script = script
        self.results = {}
        self.tool_names = []
        self.tool_list = None
        self.instructions = ""
        self.requests = []
        self._ids = itertools.count(1)
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                models = {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "test"}]}
                self.reply_json(models)

            def do_POST(self):
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                if self.headers.get("Transfer-Encoding") == "chunked":
                    raw = read_chunks(self.rfile)
                try:
                    body = json.loads(raw or b"{}")
                except ValueError:
                    body = {}
                model.answer(self, self.path, body)

            def reply_json(self, value, status=200):
                data = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def reply_events(self, events):
                """Sends server-sent events: pairs of a name, which may be None, and a value."""
                data = b""
                for name, value in events:
                    text = value if isinstance(value, str) else json.dumps(value)
                    data += (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, handler, path, body):
        path = path.split("?")[0]
        self.requests.append((path, body))
        for pattern, reply in (
            (r"/chat/completions$", self.chat),
            (r"/responses$", self.openai_responses),
            (r"/messages$", self.anthropic),
            (r":(stream)?[gG]enerateContent$", self.gemini),
        ):
            if re.search(pattern, path):
                return reply(handler, path, body)
        if path.endswith("count_tokens"):
            return handler.reply_json({"input_tokens": 1})
        if path.endswith(":countTokens"):
            return handler.reply_json({"totalTokens": 1})
        return handler.reply_json({"error": {"message": f"no such path: {path}"}}, 404)

    def next_turn(self, tools, batches, tool_list, instructions=""):
        """The answer to a conversation with these tools and these finished turns: calls with the host's names, or a text."""
        wanted = {tool for turn in self.script if isinstance(turn, list) for tool, _ in turn}
        if not any(self.full_name(tools, tool) for tool in wanted):
            search = next((name for name in tools if SEARCH.search(name)), None)
            searched = any(SEARCH.search(name or "") for batch in batches for name, _ in batch)
            if search is None or (searched and len(batches) > 2):
                return SIDE_ANSWER
            if not searched:
                # Some hosts show a server's tools only after a search.
                return [(search, {"query": "slipstitch " + " ".join(sorted(wanted))})]
        self.tool_names, self.tool_list, self.instructions = tools, tool_list, instructions
        # Looking for tools is not a turn of the script.
        batches = [batch for batch in batches if not all(SEARCH.search(name or "") for name, _ in batch)]
        for turn, batch in enumerate(batches):
            self.results[turn] = [result for _, result in batch]
        turn = self.script[min(len(batches), len(self.script) - 1)]
        if isinstance(turn, str):
            # smolagents wants its end as a call.
            return [("final_answer", {"answer": turn})] if "final_answer" in tools else turn
        named = [(self.full_name(tools, tool) or tool, arguments) for tool, arguments in turn]
        # Some hosts make every field required, and a model sends null for those that it does not need.
        return [(name, {**dict.fromkeys(required_fields(tool_list, name)), **arguments}) for name, arguments in named]

    @staticmethod
    def full_name(tools, tool):
        """The host's name for one of Slipstitch's tools: the longest that ends with it and names the server, else itself."""
        with_server = [name for name in tools if name.endswith(tool) and "slipstitch" in name]
        return max(with_server, key=len, default=tool if tool in tools else None)

    def new_id(self, prefix):
        return f"{prefix}_{next(self._ids):06d}"

    # OpenAI chat completions

    def chat(self, handler, _, body):
        tools = [tool["function"]["name"] for tool in body.get("tools") or [] if "function" in tool]
        messages = body.get("messages") or []
        by_id = {m.get("tool_call_id"): text_of(m.get("content")) for m in messages if m.get("role") == "tool"}
        batches = [
            [(call["function"]["name"], by_id.get(call["id"], "")) for call in message["tool_calls"]]
            for message in messages
            if message.get("role") == "assistant" and message.get("tool_calls")
        ]
        batches = batches or text_batches(messages)
        instructions = "\n".join(text_of(m.get("content")) for m in messages if m.get("role") in ("system", "developer"))
        turn = self.next_turn(tools, batches, body.get("tools"), instructions)
        if isinstance(turn, str):
            message, reason = {"role": "assistant", "content": turn}, "stop"
        else:
            calls = [
                {"index": index, "id": self.new_id("call"), "type": "function",
                 "function": {"name": name, "arguments": json.dumps(arguments)}}
                for index, (name, arguments) in enumerate(turn)
            ]
            message, reason = {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        base = {"id": self.new_id("chat"), "created": 1, "model": body.get("model", "scripted")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            return handler.reply_json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        chunk = {**base, "object": "chat.completion.chunk"}
        return handler.reply_events([
            (None, {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
            (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
            (None, {**chunk, "choices": [], "usage": usage}),
            (None, "[DONE]"),
        ])

    # OpenAI responses

    def openai_responses(self, handler, _, body):
        tools, namespaces = [], {}
        for tool in body.get("tools") or []:
            for inner in tool.get("tools") or []:
                # A namespace groups the tools of a server.
                full = f"{tool.get('name')}/{inner.get('name')}"
                namespaces[full] = tool.get("name")
                tools.append(full)
            tools.append(tool.get("name") or tool.get("type") or "")
        items = body.get("input") if isinstance(body.get("input"), list) else []
        by_id = {i.get("call_id"): text_of(i.get("output")) for i in items if i.get("type", "").endswith("_output")}
        batches, previous = [], None
        for item in items:
            if item.get("type") == "function_call":
                if previous != "function_call":
                    batches.append([])
                batches[-1].append((item.get("name"), by_id.get(item.get("call_id"), "")))
            previous = item.get("type")
        turn = self.next_turn(tools, batches, body.get("tools"), body.get("instructions") or "")
        if isinstance(turn, str):
            items = [{"id": self.new_id("msg"), "type": "message", "role": "assistant", "status": "completed",
                      "content": [{"type": "output_text", "text": turn, "annotations": []}]}]
        else:
            items = []
            for name, arguments in turn:
                namespace = namespaces.get(name)
                item = {"id": self.new_id("fc"), "type": "function_call", "call_id": self.new_id("call"),
                        "name": name.split("/", 1)[1] if namespace else name, "arguments": json.dumps(arguments),
                        "status": "completed"}
                items.append({**item, "namespace": namespace} if namespace else item)
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}
        response = {"id": self.new_id("resp"), "object": "response", "created_at": 1, "status": "completed",
                    "model": body.get("model", "scripted"), "output": items, "usage": usage,
                    "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        if not body.get("stream"):
            return handler.reply_json(response)
        started = {**response, "status": "in_progress", "output": [], "usage": None}
        events = [{"type": "response.created", "response": started}]
        for index, item in enumerate(items):
            events.append({"type": "response.output_item.added", "output_index": index, "item": item})
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        events.append({"type": "response.completed", "response": response})
        numbered = ({**event, "sequence_number": number} for number, event in enumerate(events))
        return handler.reply_events([(event["type"], event) for event in numbered])

    # Anthropic messages

    def anthropic(self, handler, _, body):
        tools = [tool.get("name", "") for tool in body.get("tools") or []]
        messages = [m for m in body.get("messages") or [] if isinstance(m.get("content"), list)]
        blocks = [block for message in messages for block in message["content"]]
        by_id = {b.get("tool_use_id"): text_of(b.get("content")) for b in blocks if b.get("type") == "tool_result"}
        calls = lambda message: [b for b in message["content"] if b.get("type") == "tool_use"]
        batches = [
            [(call["name"], by_id.get(call["id"], "")) for call in calls(message)]
            for message in messages if message.get("role") == "assistant" and calls(message)
        ]
        turn = self.next_turn(tools, batches, body.get("tools"), text_of(body.get("system")))
        if isinstance(turn, str):
            content, reason = [{"type": "text", "text": turn}], "end_turn"
        else:
            content = [{"type": "tool_use", "id": self.new_id("toolu"), "name": n, "input": a} for n, a in turn]
            reason = "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": self.new_id("msg"), "type": "message", "role": "assistant", "content": content,
                   "model": body.get("model", "scripted"), "stop_reason": reason, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return handler.reply_json(message)
        events = [{"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}]
        for index, block in enumerate(content):
            if block["type"] == "text":
                start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                start = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events.append({"type": "content_block_start", "index": index, "content_block": start})
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
        end = {"stop_reason": reason, "stop_sequence": None}
        events += [{"type": "message_delta", "delta": end, "usage": usage}, {"type": "message_stop"}]
        return handler.reply_events([(event["type"], event) for event in events])

    # Gemini generateContent

    def gemini(self, handler, path, body):
        declared = [tool.get("functionDeclarations") or [] for tool in body.get("tools") or []]
        tools = [function["name"] for functions in declared for function in functions]
        batches, waiting = [], []
        for content in body.get("contents") or []:
            parts = content.get("parts") or []
            count = sum("functionCall" in part for part in parts)
            answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
            if count:
                waiting = []
                batches.append(waiting)
            waiting.extend((answer.get("name"), gemini_text(answer.get("response"))) for answer in answers)
        instructions = text_of((body.get("systemInstruction") or {}).get("parts"))
        turn = self.next_turn(tools, batches, body.get("tools"), instructions)
        if isinstance(turn, str):
            parts = [{"text": turn}]
        else:
            parts = [{"functionCall": {"name": n, "args": a, "id": self.new_id("call")}} for n, a in turn]
        if (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            # A router asks which model to use, or whether the work is done.
            parts = [{"text": json.dumps({"reasoning": "", "model_choice": "flash", "next_speaker": "user"})}]
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        response = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
        if "stream" in path.rsplit(":", 1)[-1]:
            return handler.reply_events([(None, response)])
        return handler.reply_json(response)


def text_of(content):
    """The text of a message's content: a string, or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part.get("text", "") if isinstance(part, dict) else part) for part in content)
    if isinstance(content, dict) and "content" in content:
        return text_of(content["content"])
    return json.dumps(content)


def required_fields(tool_list, name):
    """The fields that a tool needs, as the host lists it."""
    for tool in tool_list or []:
        if "functionDeclarations" in tool:
            return required_fields(tool["functionDeclarations"], name)
        tool = tool.get("function", tool)
        if tool.get("name") == name:
            schemas = (tool.get(key) for key in ("parameters", "input_schema", "parametersJsonSchema"))
            return next((schema.get("required", []) for schema in schemas if schema), [])
    return []


def text_batches(messages):
    """The turns of a conversation that has calls and their results as texts, which is how smolagents sends them."""
    batches = []
    for message in messages:
        text = text_of(message.get("content"))
        if message.get("role") == "assistant" and text.lstrip().startswith("Calling tools:"):
            batches.append([])
        elif message.get("role") == "user" and batches:
            results = re.split(r"(?:^|\n)(?:Observation:\n|Error:\n)", text)
            batches[-1].append(("call", "\n".join(part for part in results if part).strip()))
    return batches


def gemini_text(response):
    """The text of a function's response, as the model gets it."""
    if isinstance(response, dict) and set(response) <= {"output", "error"}:
        return "\n".join(text_of(value) for value in response.values())
    return text_of(response) if isinstance(response, str) else json.dumps(response)


def read_chunks(stream):
    """A body in chunks."""
    data = b""
    while size := int(stream.readline().split(b";")[0].strip() or b"0", 16):
        data += stream.read(size)
        stream.readline()
    stream.readline()
    return data
