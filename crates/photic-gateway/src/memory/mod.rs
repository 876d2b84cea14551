//! Memory: one budget for everything that requests make the gateway hold.
//!
//! Memory is charged when it is used, to the caller that causes it, until it is freed. A [`Charge`]
//! lives beside the bytes or in the work that it pays for. No caller can take all of the budget.

mod budget;
mod buffers;
mod caller_id;
mod charged;
mod lru_cache;
mod pages;

pub(crate) use budget::{Charge, MemoryBudget, NoRoom, Share, Use};
pub(crate) use buffers::{Buffer, Buffers};
pub(crate) use caller_id::{CallerId, CallerIds};
pub(crate) use charged::charged;
pub(crate) use lru_cache::{Key, LruCache, Weighed, key_of};
