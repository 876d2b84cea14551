//! Cases of the default policy: what was in sight stays in sight.
