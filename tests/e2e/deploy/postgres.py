"""PostgreSQL on loopback, for as long as it is needed."""
import glob, os, pathlib, pwd, shutil, subprocess

from free_port import free_port


class Server:
    """Keeps everything below a folder; it may be stopped and started again."""

    def __init__(self, work):
        self.programs = pathlib.Path(sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=version)[-1])
        self.data, self.owner = work / "data", {}
        self.data.mkdir()
        if os.geteuid() == 0:
            # It refuses to be root.
            shutil.chown(self.data, "postgres")
            who = pwd.getpwnam("postgres")
            self.owner = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
        self.port = free_port()
        self.run("initdb", "-D", self.data, "-U", "photic", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8")
        self.start()

    def run(self, program, *arguments):
        # Not a pipe: the server keeps what it inherits.
        subprocess.run([self.programs / program, *map(str, arguments)], check=True, cwd="/", stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, **self.owner)

    def start(self):
        self.run("pg_ctl", "-s", "-w", "-D", self.data, "-l", self.data / "log", "start", "-o",
                 f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off")

    def stop(self):
        self.run("pg_ctl", "-s", "-m", "immediate", "-D", self.data, "stop")

    def address(self, database):
        return f"postgres://photic@127.0.0.1:{self.port}/{database}"

    def ask(self, statement, database="photic"):
        done = subprocess.run([self.programs / "psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d",
                               self.address(database), "-f", "-"], input=statement, capture_output=True, text=True)
        assert done.returncode == 0, f"{statement[:400]} …\n{done.stderr}"
        return done.stdout.strip()


def version(path):
    return int(path.split("/")[-2])
