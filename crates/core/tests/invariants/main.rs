//! What holds on any pull: the numbered invariants, as far as they concern the core.

mod any;
mod dice;
mod marks;
mod pool;
mod total;

use proptest::prelude::ProptestConfig;

/// So many cases, or as many as `PROPTEST_CASES` says.
pub(crate) fn cases(most: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, max_shrink_iters: 2_000, ..ProptestConfig::default() };
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig { cases: if asked { config.cases } else { most }, ..config }
}
