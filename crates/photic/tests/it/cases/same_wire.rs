//! Cases of requests that go out on the wire they came in on: what worked still works.
