"""Serves the chart reader with the real llama.cpp server (PyPI: xllamacpp), on loopback only.

    python serve.py PREFIX [PORT [CONTEXT [SLOTS]]]

PREFIX.gguf and PREFIX-mmproj.gguf are the weights. Prints `listening http://…` once it answers, and
ends when its standard input is closed, so that it cannot outlive whoever started it.
"""

import os
import sys

import xllamacpp

prefix = sys.argv[1]
port, context, slots = (int(word) for word in (sys.argv[2:] + ["0", "8192", "1"][len(sys.argv) - 2 :])[:3])

parameters = xllamacpp.CommonParams()
parameters.model.path = prefix + ".gguf"
parameters.mmproj.path = prefix + "-mmproj.gguf"
parameters.hostnames = ["127.0.0.1"]
parameters.port = port
# Slots share the context: each gets its part.
parameters.n_ctx = context * slots
parameters.n_parallel = slots
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
parameters.warmup = False
parameters.use_jinja = True
parameters.sampling.temp = 0.0

server = xllamacpp.Server(parameters)
print("listening", server.listening_address, flush=True)
sys.stdin.read()
os._exit(0)
