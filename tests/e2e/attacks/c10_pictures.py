"""Pictures past their bound: few bytes, many pixels, within the memory that was announced."""
from heavy import at_once, body_of, gateway, over
from harness import Upstream, attack, harm_if


def large(kind, budget=320, requests=4, count=1):
    with Upstream() as upstream, gateway(upstream, budget) as photic:
        bodies = [body_of(kind, count, extra=number) for number in range(requests)]
        tasks = [lambda body=body, number=number: photic.ask("POST", "/v1/messages", body, {
            "x-api-key": f"sk-{number}"})[0] for number, body in enumerate(bodies)]
        statuses = at_once(tasks)
        over(photic, budget)
        harm_if(None in statuses, f"a request was never answered: {statuses}")
        harm_if(not photic.is_well(), "it does not answer")


attack(10, "two GIFs of 56 megapixels", kind="gif", budget=512, requests=2)(large)
attack(10, "a GIF that keeps what stood there", kind="gif that keeps", budget=512, requests=1)(large)
attack(10, "a GIF with a frame larger than itself", kind="gif with a wide frame", budget=320, requests=2)(large)
attack(10, "a GIF of many frames", kind="gif of many frames", budget=512, requests=1)(large)
for kind in ["interlaced png", "tiff", "bmp", "progressive jpeg"]:
    attack(10, f"four at once ({kind})", kind=kind, budget=192)(large)
attack(10, "GIFs of four callers at once", kind="gif")(large)
attack(10, "three in each of four requests", kind="interlaced png", count=3)(large)
