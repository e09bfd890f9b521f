"""The agent hosts that the tests drive: how each is installed, pointed at the scripted model, and run."""

import json


class Host:
    """A host from the npm registry. `client` is Slipstitch's name for it."""

    client = package = program = ""
    # What the host's own list says when the server works; None if it does not connect.
    connected = "onnected"
    list_command = ("mcp", "list")
    # What `install` needs so that the host edits unattended.
    install_flags = ("--allow-edits",)
    # The keys that approve a change in the host's form; None if it shows none.
    approve_keys = None

    def prepare(self, home, project, model):
        """Writes the host's settings, without the server."""

    def environment(self, model):
        return {}

    def command(self, prompt):
        raise NotImplementedError

    def interactive_command(self):
        """The arguments for a session at a terminal."""
        return []


class Codex(Host):
    client, package, program = "codex", "@openai/codex", "codex"
    connected = None
    install_flags = ()
    approve_keys = ("\r",)

    def prepare(self, home, project, model):
        folder = home / ".codex"
        folder.mkdir()
        (folder / "config.toml").write_text(
            '# mine\nmodel = "scripted"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\n'
            f'name = "scripted"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\n'
            "supports_websockets = false\n"
            f'\n[projects."{project}"]\ntrust_level = "trusted"\n'
        )

    def command(self, prompt):
        return ["exec", "--skip-git-repo-check", prompt]


class OpenCode(Host):
    client, package, program = "opencode", "opencode-ai", "opencode"
    install_flags = ()

    def prepare(self, home, project, model):
        folder = home / ".config" / "opencode"
        folder.mkdir(parents=True)
        provider = {
            "npm": "@ai-sdk/openai-compatible", "name": "scripted",
            "options": {"baseURL": f"{model.url}/v1", "apiKey": "x"},
            "models": {"scripted": {"name": "scripted", "tool_call": True}},
        }
        settings = {"model": "scripted/scripted", "small_model": "scripted/scripted", "provider": {"scripted": provider}}
        (folder / "opencode.json").write_text("// mine\n" + json.dumps(settings, indent=2) + "\n")

    def environment(self, model):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}

    def command(self, prompt):
        return ["run", prompt]


class Gemini(Host):
    client, package, program = "gemini", "@google/gemini-cli", "gemini"

    def prepare(self, home, project, model):
        folder = home / ".gemini"
        folder.mkdir()
        settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
                    "general": {"enableAutoUpdate": False, "checkpointing": {"enabled": False}}}
        (folder / "settings.json").write_text("// mine\n" + json.dumps(settings, indent=2) + "\n")

    def environment(self, model):
        return {"GEMINI_API_KEY": "x", "GOOGLE_GEMINI_BASE_URL": model.url, "GEMINI_CLI_TRUST_WORKSPACE": "true",
                "GEMINI_TELEMETRY_ENABLED": "false"}

    def command(self, prompt):
        return ["-m", "gemini-2.5-flash", "-p", prompt]


class Qwen(Host):
    client, package, program = "qwen", "@qwen-code/qwen-code", "qwen"

    def prepare(self, home, project, model):
        folder = home / ".qwen"
        folder.mkdir()
        settings = {"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": False},
                    "general": {"enableAutoUpdate": False}}
        (folder / "settings.json").write_text("// mine\n" + json.dumps(settings, indent=2) + "\n")

    def environment(self, model):
        return {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_MODEL": "scripted"}

    def command(self, prompt):
        return ["-p", prompt]


class Copilot(Host):
    client, package, program = "copilot-cli", "@github/copilot", "copilot"
    connected = None
    install_flags = ()

    def environment(self, model):
        return {"COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1", "COPILOT_PROVIDER_TYPE": "openai",
                "COPILOT_PROVIDER_API_KEY": "x", "COPILOT_MODEL": "gpt-4.1", "COPILOT_OFFLINE": "true",
                "COPILOT_AUTO_UPDATE": "false"}

    def command(self, prompt):
        return ["-p", prompt, "--allow-tool", "slipstitch"]


class Claude(Host):
    client, package, program = "claude-code", "@anthropic-ai/claude-code", "claude"
    # Opens the list of decisions, chooses the first, and submits the form.
    approve_keys = ("\x1b[C", "\r", "\r")

    def prepare(self, home, project, model):
        settings = {
            "hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": {"approved": ["x"], "rejected": []},
            "projects": {str(project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        }
        (home / ".claude.json").write_text(json.dumps(settings, indent=2) + "\n")

    def environment(self, model):
        return {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "x", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "ENABLE_TOOL_SEARCH": "false"}

    def command(self, prompt):
        return ["-p", prompt, *self.interactive_command()]

    def interactive_command(self):
        return ["--model", "claude-sonnet-4-5"]


HOSTS = [Claude(), Codex(), Copilot(), Gemini(), Qwen(), OpenCode()]
