"""Files others can read: conversations, pictures and lessons are for the user alone."""
import atexit, os, pathlib, shutil, stat, subprocess, tempfile

from harness import CHAT_REPLY, Photic, Upstream, attack, chat_body, folder, harm_if, png, until
from running import Run

made = {}


def picky(request):
    """Takes one picture, and says so: photic learns it."""
    if request.body.count(b'"image_url"') > 2:
        return 400, {}, {"error": {"message": "Too many images in request. At most 1 image may be provided.",
                                   "type": "invalid_request_error", "param": None, "code": None}}
    return 200, {}, CHAT_REPLY


def kept():
    """What a gateway leaves behind that kept a conversation and learned something; made with a loose umask."""
    if not made:
        place = pathlib.Path(tempfile.mkdtemp(prefix="photic-attack."))
        atexit.register(shutil.rmtree, place, True)
        with Upstream(picky) as upstream:
            old = os.umask(0o000)
            try:
                photic = Photic(f"[[upstream]]\nurl = '{upstream.url}'\n", "--record", folder=place)
            finally:
                os.umask(old)
            with photic:
                status = photic.chat(chat_body(png(color=(1, 2, 3)), png(color=(9, 9, 9))))[0]
                harm_if(status != 200, f"the conversation itself failed: {status}")
                state = place / "home/state/photic"
                until(lambda: list(state.glob("blobs/??/??/*")), "pictures are kept")
                until(lambda: (state / "learned.json").exists(), "something is learned")
                made.update({str(path.relative_to(state)): stat.S_IMODE(path.lstat().st_mode)
                             for path in [state, *state.rglob("*")]})
    return made


def loose(what):
    """Files by their names; none may be open to anybody else."""
    found = {name: mode for name, mode in kept().items() if what(name)}
    if not found:
        raise RuntimeError(f"no such files among {sorted(made)}")
    bad = {name: oct(mode) for name, mode in found.items() if mode & 0o077}
    harm_if(bad, f"{bad}")


for name, what in {
    "the folder for state": lambda name: name == ".",
    "the record": lambda name: name == "record.db",
    "the record's log": lambda name: name in ("record.db-wal", "record.db-shm"),
    "folders of pictures": lambda name: name.startswith("blobs/") and name.count("/") in (1, 2) and "unf" not in name
    and "leaving" not in name,
    "pictures": lambda name: name.startswith("blobs/") and name.count("/") == 3,
    "lessons": lambda name: name == "learned.json",
    "the lock of lessons": lambda name: name == "learned.lock",
}.items():
    attack(9, name, what=what)(loose)


def read_as_nobody(path):
    """What somebody else reads of a file."""
    return subprocess.run(["/usr/bin/head", "-c", "16", path], user=65534, group=65534, extra_groups=[],
                          capture_output=True).stdout


@attack(9, "somebody else reads what `run --record` keeps")
def read_by_another():
    with Upstream() as upstream, folder() as place:
        os.chmod(place, 0o755)
        with Run("--record", variables={"OPENAI_BASE_URL": upstream.url, "XDG_STATE_HOME": str(place)}) as run:
            run.ask("OPENAI_BASE_URL", "POST", "/chat/completions", chat_body(png()), {"authorization": "Bearer k"})
            until(lambda: list(place.glob("photic/record.db")), "a record")
        got = read_as_nobody(f"{place}/photic/record.db")
        harm_if(got, f"read as another user: {got!r}")


@attack(9, "what an earlier version left open stays open")
def repaired():
    with Upstream() as upstream, folder() as place:
        os.chmod(place, 0o755)
        variables = {"OPENAI_BASE_URL": upstream.url, "XDG_STATE_HOME": str(place)}
        for time in ("first", "second"):
            with Run("--record", variables=variables) as run:
                run.ask("OPENAI_BASE_URL", "POST", "/chat/completions", chat_body(png()), {"authorization": "Bearer k"})
                until(lambda: list(place.glob("photic/record.db")), "a record")
            for path in [place / "photic", *(place / "photic").rglob("*")] if time == "first" else []:
                os.chmod(path, 0o755 if path.is_dir() else 0o644)
        got = read_as_nobody(f"{place}/photic/record.db")
        harm_if(got, f"read as another user: {got!r}")


def planted(link):
    """A link in the folder of lessons, to a file that is not photic's."""
    with Upstream(picky) as upstream, folder() as place:
        victim = place / "victim"
        victim.write_text("precious")
        state = place / "home/state/photic"
        state.mkdir(parents=True)
        (state / link).symlink_to(victim)
        with Photic(f"[[upstream]]\nurl = '{upstream.url}'\n", folder=place) as photic:
            photic.chat(chat_body(png(color=(1, 2, 3)), png(color=(9, 9, 9))))
        harm_if(victim.read_text() != "precious", "a file behind a link was overwritten")


attack(9, "a link in place of unfinished lessons", link="learned.new")(planted)
attack(9, "a link in place of the lock", link="learned.lock")(planted)
