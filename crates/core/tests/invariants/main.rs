//! What holds on any pull: the numbered invariants, as far as they concern the core.
//!
//! Two kinds of pulls: `play` makes those that can be, by events with referee's own plans carried out in between; `any`
//! makes those that cannot, contradictory ones included. A property that holds on both runs on both.
//!
//! | number | proven elsewhere, because |
//! |---|---|
//! | I5 | what a forge shows at rest: the publishing table's product, and testkit's models |
//! | I10, I31 | crashes and lost replies happen to a turn: testkit's models and plays |
//! | I22, the second look | `turn` reads the head again, not the core |
//! | I26, I27, I28, I34, I36 | secrets, the sandbox and the network are outside of the core |
//! | I30, lost and doubled events | an event only rings: the daemon's |
//! | I35 | the journal is written by `turn` |

mod any;
#[path = "../render/commands.rs"]
mod commands;
mod dice;
mod forge;
mod marks;
mod others;
mod play;
mod pool;
mod rest;
mod tell;
mod threads;
mod total;
mod verdicts;
mod words;
mod work;

use proptest::prelude::ProptestConfig;

/// So many cases where `PROPTEST_CASES` says nothing, else in proportion to it.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = config.cases.saturating_mul(usual) / 256;
    ProptestConfig { cases: cases.max(1), failure_persistence: None, max_shrink_iters: 2_000, ..config }
}

/// A property that holds on pulls that can be, and on pulls that cannot.
#[macro_export]
macro_rules! holds {
    ($config:expr, $name:ident, $property:path) => {
        proptest::proptest! {
            #![proptest_config($config)]

            #[test]
            fn $name(able in $crate::play::any_play(), unable in $crate::any::any_scene()) {
                $property(&able)?;
                $property(&unable)?;
            }
        }
    };
}
