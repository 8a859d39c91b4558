"""A hook command to test with: decides by the first word, or misbehaves as it is told."""

import json
import os
import sys
import time
from pathlib import Path

body = json.load(sys.stdin)
words = str(body["tool_input"].get("command", "")).split(" ")
seen = Path(os.environ["HOME"]) / "seen"
before = seen.read_text() if seen.exists() else ""
seen.write_text(before + body["hook_event_name"] + "\n")
if body["hook_event_name"] != "PreToolUse":
    sys.exit(0)
if words[0] == "hang":
    time.sleep(60)
elif words[0] == "die":
    sys.exit(1)
elif words[0] == "garbage":
    print("certainly!")
elif words[0] == "flood":
    sys.stdout.write("x" * 5_000_000)
elif words[0] == "silent":
    sys.exit(0)
elif words[0] == "block":
    print("because", file=sys.stderr)
    sys.exit(2)
else:
    state = words[0] if words[0] in ("allow", "ask", "deny") else "ask"
    reason = {
        "cwd": os.getcwd(),
        "environ": sorted(set(os.environ) - {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}),
        "events": before.split(),
        "files": sorted(os.listdir(os.environ["HOME"])),
        "home": os.environ["HOME"],
        "there": os.path.isdir(body["cwd"]),
        "uid": os.getuid(),
        "prompts": Path(body["transcript_path"]).read_text().count('"type": "user"'),
    }
    inner = {"permissionDecision": state, "permissionDecisionReason": json.dumps(reason)}
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **inner}}))
