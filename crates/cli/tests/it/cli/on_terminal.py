"""Runs a command on a pseudo-terminal and prints what it showed.

The only argument is a JSON object: `argv`, `rows`, `columns`, `steps` (each a text to wait for and one to type), and
`lock`, a journal to keep locked for two seconds, and `pause`, how many seconds pass before something is typed. The first line of the output is the exit code.
"""
import fcntl, json, os, pty, select, sqlite3, struct, sys, termios, threading, time

task = json.loads(sys.argv[1])
if task.get("lock"):
    ready = threading.Event()

    def hold():
        connection = sqlite3.connect(task["lock"])
        connection.execute("BEGIN EXCLUSIVE")
        ready.set()
        time.sleep(2)
        connection.rollback()

    threading.Thread(target=hold, daemon=True).start()
    ready.wait(5)
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", task["rows"], task["columns"], 0, 0))
    os.execv(task["argv"][0], task["argv"])
shown, seen, steps = b"", 0, list(task["steps"])
deadline = time.time() + 60
while time.time() < deadline:
    if steps and steps[0][0].encode() in shown[seen:]:
        seen = len(shown)
        time.sleep(task.get("pause", 0))
        os.write(terminal, steps.pop(0)[1].encode())
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(b"%d\n" % os.waitstatus_to_exitcode(status) + shown.replace(b"\r\n", b"\n"))
