"""docs/runbook.md, by doing it: its statements on a real PostgreSQL, its backup put back, its commands asked for help.

    runbook.py PHOTIC          the binary; needs PostgreSQL's programs
"""
import os, pathlib, re, subprocess, sys, tempfile, textwrap

import yaml

from postgres import Server

photic = sys.argv[1]
root = pathlib.Path(__file__).resolve().parents[3]
PAGE = root / "docs/runbook.md"
TABLES = root / "crates/photic-fleet/src/postgres/format-1.sql"


def fenced(language):
    """The blocks of a language, in lines that begin where the block does."""
    blocks, inside = [], None
    for line in PAGE.read_text().splitlines():
        if line.strip().startswith("```"):
            if inside is None:
                inside, of = [], line.strip()[3:]
            else:
                blocks += [textwrap.dedent("\n".join(inside))] if of == language else []
                inside = None
        elif inside is not None:
            inside.append(line)
    return blocks


# Commands.

def commands():
    lines = [line for block in fenced("") for line in block.splitlines() if line.startswith("photic ")]
    found = [line.split()[1:] for line in lines]
    services = yaml.safe_load((root / "deploy/compose/compose.yaml").read_text())["services"]
    return found + [services[name]["command"] for name in ("examine", "retire", "tenant")]


def words(command):
    """The command without what it is told: plain words in the beginning, and the names of options."""
    plain = []
    for word in command:
        if not re.fullmatch(r"[a-z]+", word):
            break
        plain.append(word)
    return plain, [word for word in command if word.startswith("--")]


def is_there(command):
    plain, options = words(command)
    asked = subprocess.run([photic, *plain, "--help"], capture_output=True, text=True)
    return asked.returncode == 0 and all(option in asked.stdout for option in options)


def commands_are_there():
    all_of_them = commands()
    assert len(all_of_them) > 12
    for command in all_of_them:
        assert is_there(command), f"`photic {' '.join(command)}`: there is no such command"
    return len(all_of_them)


# PostgreSQL.

def filled(server):
    """A tenant with a key, a session and a picture, in the tables as photic makes them."""
    server.ask("CREATE DATABASE photic", "postgres")
    server.ask(TABLES.read_text())
    day = int(server.ask("SELECT floor(extract(epoch FROM now()) / 86400)::integer"))
    server.ask(f"""
        SELECT open_day({day});
        INSERT INTO tenant (name, secret) VALUES ('TENANT', '\\x00');
        INSERT INTO api_key (id, hash, tenant, label, created) VALUES ('NAME', '\\x00', 1, '', 0);
        INSERT INTO session (id, name, tenant, title, created, last) VALUES (({day}::bigint << 40) + 1, 's_1', 1, 'a title', 0, 0);
        INSERT INTO blob (day, tenant, id, object, at, length, stored) VALUES ({day}, 1, '\\x00', 'o', 0, 20480, 0);
    """)


def statements_work(server):
    statements = fenced("sql")
    assert len(statements) > 5
    answers = {statement: server.ask(statement) for statement in statements}
    told = "\n".join(answers.values())
    # They find what is there: the session, the stored bytes, the tables of today.
    for wanted in ("s_1|0|", "TENANT|1|20 kB", "blob_", "photic|active|"):
        assert wanted in told, f"nothing says `{wanted}`:\n{told}"
    assert server.ask("SELECT revoked > 0 FROM api_key WHERE id = 'NAME'") == "t", "a leaked key still opens"
    return len(statements)


def backup_comes_back(server, work):
    """The two commands as they stand, with the database filled in."""
    lines = [line for block in fenced("") for line in block.splitlines()]
    dump, = [line for line in lines if line.startswith("pg_dump ")]
    restore, = [line for line in lines if line.startswith("pg_restore ")]
    server.ask("CREATE DATABASE again", "postgres")
    for line, database in ((dump, "photic"), (restore, "again")):
        environment = {**os.environ, "DATABASE": server.address(database), "PATH": f"{server.programs}:{os.environ['PATH']}"}
        subprocess.run(["sh", "-ec", line], check=True, cwd=work, env=environment)
    everything = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY 1"
    tables = server.ask(everything).splitlines()
    assert tables == server.ask(everything, "again").splitlines() and len(tables) > 15
    for table in tables:
        rows = f"SELECT md5(coalesce(string_agg(one::text, ',' ORDER BY one::text), '')) FROM {table} AS one"
        assert server.ask(rows) == server.ask(rows, "again"), table
    # Days still open and go.
    assert server.ask("SELECT count(*) FROM (SELECT open_day(1), drop_days(2)) AS days", "again") >= "1"
    return len(tables)


asked = commands_are_there()
with tempfile.TemporaryDirectory(prefix="photic-runbook.") as name:
    work = pathlib.Path(name)
    work.chmod(0o755)
    server = Server(work)
    try:
        filled(server)
        done = statements_work(server)
        tables = backup_comes_back(server, work)
    finally:
        server.stop()
print(f"runbook: {asked} commands, {done} statements; a backup of {tables} tables came back")
