"""Waits for conditions. Ends are generous: machines are slow at times, and a wait that ends early proves nothing."""
import http.client, time

# Seconds that any condition may take before it counts as not met.
LONG = 120


def until(condition, what="a condition", seconds=LONG):
    """Waits until a condition gives something true, and gives that. Failed connections count as not yet."""
    end = time.monotonic() + seconds
    while True:
        try:
            if found := condition():
                return found
        except (OSError, http.client.HTTPException):
            pass
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for: {what}")
        time.sleep(0.05)
