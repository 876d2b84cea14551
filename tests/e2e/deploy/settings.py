"""photic.toml as the binary at hand reads it."""
import json, subprocess

import jsonschema, tomli


def check(photic, text):
    schema = json.loads(subprocess.run([photic, "schema"], check=True, capture_output=True, text=True).stdout)
    jsonschema.Draft202012Validator(schema).validate(tomli.loads(text))
