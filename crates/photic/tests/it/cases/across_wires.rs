//! Cases of translation to another wire: nothing is lost without a decision.
