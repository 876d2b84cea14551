"""What every package of one target is made of: the program, its pages, and its legal texts."""
import pathlib, subprocess
from dataclasses import dataclass

import notices
from facts import ROOT, program_name
from sbom import bill

# A completion script for each shell, and where a Debian package puts it.
SHELLS = {
    "bash": ("photic.bash", "usr/share/bash-completion/completions/photic"),
    "fish": ("photic.fish", "usr/share/fish/vendor_completions.d/photic.fish"),
    "zsh": ("_photic", "usr/share/zsh/vendor-completions/_photic"),
    "powershell": ("_photic.ps1", None),
    "elvish": ("photic.elv", None),
}


@dataclass
class Contents:
    """Bytes of the files of a release, for one target."""
    entry: dict
    program: bytes
    man: bytes
    completions: dict
    notices: bytes
    sbom: bytes

    @property
    def program_name(self):
        return program_name(self.entry)


def contents(entry, program, native):
    """`native` is a program of the same commit that runs on this machine: it prints the pages."""
    def printed(*arguments):
        return subprocess.run([native, *arguments], check=True, capture_output=True).stdout
    return Contents(
        entry=entry,
        program=pathlib.Path(program).read_bytes(),
        man=printed("man"),
        completions={shell: printed("completions", shell) for shell in SHELLS},
        notices=notices.program(entry),
        sbom=bill(entry["rust"]),
    )


def ours(name):
    return (ROOT / name).read_bytes()
