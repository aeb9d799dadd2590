//! The ABI manifest.
