"""browser-use on a page that shows the chart, one step: CHART."""
import asyncio, functools, http.server, pathlib, shutil, sys, threading
from browser_use import Agent, BrowserProfile, ChatOpenAI

chart = pathlib.Path(sys.argv[1])
page = chart.with_name("page.html")
page.write_text(f'<body style="margin:0"><img src="{chart.name}" style="width:100vw;height:100vh">')
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(chart.parent))
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/{page.name}"
profile = BrowserProfile(executable_path=shutil.which("chromium"), headless=True, chromium_sandbox=False,
                         enable_default_extensions=False, viewport={"width": 800, "height": 600})
agent = Agent("Which colors are these?", llm=ChatOpenAI(model="gpt-4o", max_retries=0), browser_profile=profile, use_judge=False,
              use_vision=True, initial_actions=[{"navigate": {"url": url, "new_tab": False}}], max_failures=1)
asyncio.run(agent.run(max_steps=1))
