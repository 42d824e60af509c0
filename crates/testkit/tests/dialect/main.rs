//! The dialect server answers as real servers were seen to answer, and the adapter for them keeps the contract on it.

mod adapter;
mod contract;
mod dispatch;
mod plays;
mod shapes;
mod surprises;
mod visitor;
