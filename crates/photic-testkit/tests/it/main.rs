//! The one integration test of the testkit: the house rules of the whole workspace.

#[cfg(test)]
mod documented;
#[cfg(test)]
mod files;
#[cfg(test)]
mod graph;
#[cfg(test)]
mod manual;
#[cfg(test)]
mod map;
#[cfg(test)]
mod modules;
#[cfg(test)]
mod publish;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod threats;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod words;
